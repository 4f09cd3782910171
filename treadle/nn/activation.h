/// Activations as layers.
#pragma once  // public

#include "treadle/nn/module.h"
#include "treadle/ops/pointwise/pointwise.h"

namespace treadle {

/// y = max(x, 0).
class TREADLE_API ReLU final : public Module {
 public:
  std::string describe() const override { return "ReLU"; }

 protected:
  Tensor forward(const Tensor& x) override { return relu(x); }
};

}  // namespace treadle
