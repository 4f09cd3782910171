/// Optimizer: updates named parameters from their gradients, and can save and restore its state.
#pragma once  // public

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "treadle/optim/parameter_group.h"
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
  /// A tensor that is listed twice counts once, in its first group under its first name. Throws ValueError
  /// for an undefined tensor, one that is a result of ops or whose elements share memory, for two of one
  /// name, and for a learning rate or a factor of it that is negative or not finite; DTypeError for integers.
  Optimizer(const std::vector<ParameterGroup>& groups, double learning_rate);
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;
  virtual ~Optimizer() = default;

  /// One update of every parameter that has a gradient. A step that fails before it has updated anything is
  /// not counted.
  void step();
  /// The same where `proceeds` is true: bool, of rank 0, on the parameters' device. Else parameters, what is
  /// kept of them, counts and learning rate stay as they were. A recorded step cannot know that before a
  /// replay: each replay counts it, and whoever reads afterwards that `proceeds` was false calls the function
  /// that is returned, before the next replay. It is empty for an eager step. Throws DTypeError, ShapeError.
  std::function<void()> step_where(const Tensor& proceeds);
  /// Of all groups.
  std::vector<Tensor> parameters() const;
  /// Drops all gradients.
  void zero_grad();

  /// The rate of the last step, or the one set since.
  double learning_rate() const { return numbers_->learning_rate; }
  /// For the steps to come; ends a schedule. Throws ValueError as the constructor does.
  void set_learning_rate(double value);
  /// From now on each step takes the rate schedule.at(steps made before it).
  void set_schedule(const Schedule& schedule);
  /// Of a group, in the order in which groups were given; for the steps to come. Throws ValueError as the
  /// constructor does, and RecordingError inside a function that is recorded.
  void set_rate_factor(size_t group, double factor);
  /// Steps made so far.
  int64_t step_count() const { return numbers_->step_count; }

  /// "step" (i64), one tensor per parameter and slot, named "conv1.weight.momentum", "conv1.weight.step"
  /// (i64) for parameters that were updated in other than all steps, and "conv1.weight.group" (i64) for those
  /// of other groups than the first. Options and factors of groups are no state.
  std::vector<NamedTensor> state() const;
  /// Restores what state() gave. Throws ValueError, ShapeError, DTypeError naming both sides; then nothing
  /// was changed.
  void load_state(const std::vector<NamedTensor>& state);

 private:
  struct Parameter {
    std::string name;
    Tensor tensor;
    size_t group;
    std::vector<Tensor> kept;  ///< in the order of the rule's slots
  };
  /// Parameters that one call can update: their numbers, and the operands.
  struct Batch {
    size_t group;
    Device device;
    DType dtype;
    int64_t updates;  ///< of each before
    std::vector<size_t> parameters;
    std::vector<Tensor> operands;
  };
  using Counts = std::vector<int64_t>;
  /// What changes from step to step. Recorded programs share it, and may outlive the optimizer.
  struct Numbers {
    double learning_rate;
    int64_t step_count = 0;
    std::optional<Schedule> schedule = {};
    Counts updates = {};                    ///< of each parameter
    std::vector<double> rate_factors = {};  ///< of each group
    /// Returns the learning rate before, for taking the step back.
    double begin_step(const std::vector<size_t>& parameters);
    void take_back(double learning_rate_before, const std::vector<size_t>& parameters);
    int64_t partition() const;
  };

  void add_group(const ParameterGroup& group);
  void add_parameter(const NamedTensor& parameter);
  std::string name() const { return rules_.empty() ? "an optimizer" : rules_[0]->name(); }
  bool keeps() const;
  void check_groups(const std::vector<NamedTensor>& state) const;
  /// Calls use(name of what is kept, the tensor) for all.
  template <class Use>
  void for_each_kept(Use use) const;

  std::vector<Batch> batches(const Counts& updates) const;
  Batch& batch_for(const Parameter& parameter, int64_t updates, std::vector<Batch>& batches) const;
  void step_eagerly();
  std::function<void()> record(Recording& recording, const Tensor& proceeds);
  void record_batches(Recording& recording, const std::vector<Batch>& batches, const Tensor& proceeds);
  Counts& counts_in(const Recording& recording);

  std::vector<std::shared_ptr<const UpdateRule>> rules_;  ///< of each group
  std::vector<Parameter> parameters_;
  std::shared_ptr<Numbers> numbers_;
  /// Updates as they will be where a recording has come to.
  std::optional<uint64_t> recording_;
  Counts recorded_updates_;
  std::shared_ptr<const int> life_ = std::make_shared<const int>();  ///< expires with the optimizer
};

struct OptimizerSettings {
  std::map<std::string, OptionValue> options = {};  ///< in place of those that the name stands for
  bool decay_vectors = true;                        ///< else as decay_matrices_only()
};

/// By a name that a rule has for its options: `momentum` is SGD with momentum 0.9. Throws ValueError listing
/// all, and for options that the rule does not have or that make none.
TREADLE_API std::unique_ptr<Optimizer> make_optimizer(const std::string& name,
                                                      std::vector<NamedTensor> parameters,
                                                      double learning_rate,
                                                      const OptimizerSettings& settings = {});

/// Names that make_optimizer knows: the presets of all rules.
TREADLE_API std::vector<std::string> known_optimizers();

}  // namespace treadle
