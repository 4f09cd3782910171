/// Optimizer: updates named parameters from their gradients, and can save and restore its state.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "treadle/nn/module.h"

namespace treadle {

class TREADLE_API Optimizer {
 public:
  Optimizer(std::vector<NamedTensor> parameters, double learning_rate);
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;
  virtual ~Optimizer() = default;

  /// One update of every parameter that has a gradient.
  void step();
  /// Drops all gradients.
  void zero_grad();

  double learning_rate() const { return learning_rate_; }
  void set_learning_rate(double value) { learning_rate_ = value; }
  /// Updates made so far.
  int64_t step_count() const { return step_count_; }

  /// "step" (i64) and one tensor per parameter and slot, named "conv1.weight.momentum".
  std::vector<NamedTensor> state() const;
  /// Restores what state() gave. Throws ValueError, ShapeError naming both sides; then nothing was changed.
  void load_state(const std::vector<NamedTensor>& state);

 protected:
  /// What an optimizer keeps for each parameter, zero at first; names such as "momentum".
  void add_slot(const std::string& name);
  Tensor slot(size_t parameter, size_t index) const { return slots_[index].tensors[parameter]; }
  virtual void update(size_t index, const Tensor& parameter, const Tensor& gradient) = 0;

 private:
  struct Slot {
    std::string name;
    std::vector<Tensor> tensors;
  };
  std::vector<NamedTensor> parameters_;
  std::vector<Slot> slots_;
  double learning_rate_;
  int64_t step_count_ = 0;
};

/// `sgd`, `momentum` (SGD with momentum 0.9), `adam` or `adamw`. Throws ValueError listing them.
TREADLE_API std::unique_ptr<Optimizer> make_optimizer(const std::string& name,
                                                      std::vector<NamedTensor> parameters,
                                                      double learning_rate);

/// Names that make_optimizer knows.
TREADLE_API std::vector<std::string> known_optimizers();

}  // namespace treadle
