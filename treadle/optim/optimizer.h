/// Optimizer: updates named parameters from their gradients, and can save and restore its state.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "treadle/nn/module.h"
#include "treadle/optim/schedule.h"

namespace treadle {

class Recording;

/// One step count serves all parameters: one whose first gradient arrives late is updated as at that step.
///
/// While a program is recorded, step() writes the update down and counts nothing. Each replay then counts a
/// step of its own, with the learning rate of that time; set_learning_rate(), set_schedule() and load_state()
/// take effect in the next replay.
class TREADLE_API Optimizer {
 public:
  /// Throws ValueError for a negative learning rate.
  Optimizer(std::vector<NamedTensor> parameters, double learning_rate);
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;
  virtual ~Optimizer() = default;

  /// One update of every parameter that has a gradient.
  void step();
  /// Drops all gradients.
  void zero_grad();

  /// The rate of the last step, or the one set since.
  double learning_rate() const { return numbers_->learning_rate; }
  /// For the steps to come; ends a schedule.
  void set_learning_rate(double value);
  /// From now on each step takes the rate schedule.at(steps made before it).
  void set_schedule(const Schedule& schedule) { numbers_->schedule = schedule; }
  /// Updates made so far.
  int64_t step_count() const { return numbers_->step_count; }

  /// "step" (i64) and one tensor per parameter and slot, named "conv1.weight.momentum".
  std::vector<NamedTensor> state() const;
  /// Restores what state() gave. Throws ValueError, ShapeError naming both sides; then nothing was changed.
  void load_state(const std::vector<NamedTensor>& state);

 protected:
  /// What an optimizer keeps for each parameter, zero at first; names such as "momentum".
  void add_slot(const std::string& name);
  /// "Adam", for messages.
  virtual std::string name() const = 0;
  /// Updates parameters of one dtype and device. `groups` holds for each the parameter, its gradient and its
  /// slots in the order of add_slot. `numbers`, where defined, holds learning rate and step number, see
  /// ops/optimizer_update.h; else they are learning_rate() and step_count().
  virtual void update(const Tensor& numbers, const std::vector<Tensor>& groups) = 0;

 private:
  struct Slot {
    std::string name;
    std::vector<Tensor> tensors;
  };
  /// Parameters that one call can update.
  struct Batch {
    Device device;
    DType dtype;
    std::vector<Tensor> groups;
  };
  /// What changes from step to step. Recorded programs share it, and may outlive the optimizer.
  struct Numbers {
    double learning_rate;
    int64_t step_count = 0;
    std::optional<Schedule> schedule = {};
    void begin_step();
  };

  std::vector<Batch> batches() const;
  void record(Recording& recording, const std::vector<Batch>& batches);

  std::vector<NamedTensor> parameters_;
  std::vector<Slot> slots_;
  std::shared_ptr<Numbers> numbers_;
  std::shared_ptr<const int> life_ = std::make_shared<const int>();  ///< expires with the optimizer
};

/// `sgd`, `momentum` (SGD with momentum 0.9), `adam` or `adamw`. Throws ValueError listing them.
TREADLE_API std::unique_ptr<Optimizer> make_optimizer(const std::string& name,
                                                      std::vector<NamedTensor> parameters,
                                                      double learning_rate);

/// Names that make_optimizer knows.
TREADLE_API std::vector<std::string> known_optimizers();

}  // namespace treadle
