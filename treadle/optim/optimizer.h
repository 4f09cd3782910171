/// Optimizer: updates named parameters from their gradients, and can save and restore its state.
#pragma once  // public

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "treadle/nn/module.h"
#include "treadle/optim/schedule.h"

namespace treadle {

/// Updates are counted for each parameter: the first one is that with its first gradient, whenever that
/// comes. A schedule follows the calls of step().
///
/// While a program is recorded, step() writes the update down and counts nothing. Each replay then counts a
/// step of its own, with the learning rate of that time; set_learning_rate(), set_schedule() and load_state()
/// take effect in the next replay. Inside the function set_learning_rate() becomes part of the program, and
/// the other two throw RecordingError.
class TREADLE_API Optimizer {
 public:
  /// A tensor that is listed twice counts once, under its first name. Throws ValueError for an undefined
  /// tensor, one that is a result of ops or whose elements share memory, for two of one name, and for a
  /// learning rate that is negative or not finite; DTypeError for integers.
  Optimizer(std::vector<NamedTensor> parameters, double learning_rate);
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;
  virtual ~Optimizer() = default;

  /// One update of every parameter that has a gradient. A step that fails before it has updated anything is
  /// not counted.
  void step();
  /// Drops all gradients.
  void zero_grad();

  /// The rate of the last step, or the one set since.
  double learning_rate() const { return numbers_->learning_rate; }
  /// For the steps to come; ends a schedule. Throws ValueError as the constructor does.
  void set_learning_rate(double value);
  /// From now on each step takes the rate schedule.at(steps made before it).
  void set_schedule(const Schedule& schedule);
  /// Steps made so far.
  int64_t step_count() const { return numbers_->step_count; }

  /// "step" (i64), one tensor per parameter and slot, named "conv1.weight.momentum", and "conv1.weight.step"
  /// (i64) for parameters that were updated in other than all steps.
  std::vector<NamedTensor> state() const;
  /// Restores what state() gave. Throws ValueError, ShapeError, DTypeError naming both sides; then nothing
  /// was changed.
  void load_state(const std::vector<NamedTensor>& state);

 protected:
  /// What an optimizer keeps for each parameter, zero at first; names such as "momentum".
  void add_slot(const std::string& name);
  /// "Adam", for messages.
  virtual std::string name() const = 0;
  /// Updates parameters of one dtype and device for the `step`th time. `groups` holds for each the parameter,
  /// its gradient and its slots in the order of add_slot. `numbers`, where defined, holds learning rate and
  /// step, see ops/update/rule.h; else they are learning_rate() and `step`.
  virtual void update(const Tensor& numbers, int64_t step, const std::vector<Tensor>& groups) = 0;

 private:
  struct Slot {
    std::string name;
    std::vector<Tensor> tensors;
  };
  /// Parameters that one call can update: their numbers, and the operands.
  struct Batch {
    Device device;
    DType dtype;
    int64_t updates;  ///< of each before
    std::vector<size_t> parameters;
    std::vector<Tensor> groups;
  };
  using Counts = std::vector<int64_t>;
  /// What changes from step to step. Recorded programs share it, and may outlive the optimizer.
  struct Numbers {
    double learning_rate;
    int64_t step_count = 0;
    std::optional<Schedule> schedule = {};
    Counts updates = {};  ///< of each parameter
    /// Returns the learning rate before, for taking the step back.
    double begin_step(const std::vector<size_t>& parameters);
    void take_back(double learning_rate_before, const std::vector<size_t>& parameters);
    int64_t partition() const;
  };

  std::vector<Batch> batches(const Counts& updates) const;
  void step_eagerly();
  void record(Recording& recording);
  void record_batches(Recording& recording, const std::vector<Batch>& batches);
  Counts& counts_in(const Recording& recording);

  std::vector<NamedTensor> parameters_;
  std::vector<Slot> slots_;
  std::shared_ptr<Numbers> numbers_;
  /// Updates as they will be where a recording has come to.
  std::optional<uint64_t> recording_;
  Counts recorded_updates_;
  std::shared_ptr<const int> life_ = std::make_shared<const int>();  ///< expires with the optimizer
};

/// By a name that a rule has for its options: `momentum` is SGD with momentum 0.9. Throws ValueError listing
/// all.
TREADLE_API std::unique_ptr<Optimizer> make_optimizer(const std::string& name,
                                                      std::vector<NamedTensor> parameters,
                                                      double learning_rate);

/// Names that make_optimizer knows: the presets of all rules.
TREADLE_API std::vector<std::string> known_optimizers();

}  // namespace treadle
