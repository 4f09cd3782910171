/// Stochastic gradient descent.
#pragma once  // public

#include "treadle/optim/optimizer.h"

namespace treadle {

/// PyTorch's meaning of each.
struct SgdOptions {
  double momentum = 0, dampening = 0, weight_decay = 0;
  bool nesterov = false;
};

/// g ← g + weight_decay·p; m ← momentum·m + (1 − dampening)·g (m ← g at first);
/// p ← p − lr·(nesterov ? g + momentum·m : m). Sutskever et al., On the Importance of Initialization and
/// Momentum, 2013.
class TREADLE_API Sgd final : public Optimizer {
 public:
  /// Throws ValueError for Nesterov without momentum or with dampening, for a negative momentum or weight
  /// decay, and for numbers that are not finite.
  Sgd(std::vector<NamedTensor> parameters, double learning_rate, const SgdOptions& options = {});

 protected:
  std::string name() const override { return "Sgd"; }
  void update(const Tensor& numbers, int64_t step, const std::vector<Tensor>& groups) override;

 private:
  SgdOptions options_;
};

}  // namespace treadle
