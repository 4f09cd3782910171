/// Adam and AdamW.
#pragma once  // public

#include "treadle/optim/optimizer.h"

namespace treadle {

/// PyTorch's meaning of each; `decoupled` makes it AdamW.
struct AdamOptions {
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8, weight_decay = 0;
  bool decoupled = false;
};

/// m ← β1·m + (1 − β1)·g; v ← β2·v + (1 − β2)·g²; p ← p − lr·m̂ / (√v̂ + ε). Kingma and Ba, Adam, 2015;
/// decoupled decay p ← p·(1 − lr·weight_decay): Loshchilov and Hutter, Decoupled Weight Decay Regularization,
/// 2019.
class TREADLE_API Adam final : public Optimizer {
 public:
  /// Throws ValueError unless 0 <= beta < 1 for both, and for a negative or infinite epsilon or weight decay.
  Adam(std::vector<NamedTensor> parameters, double learning_rate, const AdamOptions& options = {});

 protected:
  std::string name() const override { return "Adam"; }
  void update(const Tensor& numbers, int64_t step, const std::vector<Tensor>& groups) override;

 private:
  AdamOptions options_;
};

}  // namespace treadle
