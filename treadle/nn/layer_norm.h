/// Layer normalisation.
#pragma once  // public

#include "treadle/nn/module.h"
#include "treadle/ops/norm/layer_norm.h"

namespace treadle {

/// Each row of `features` elements, the last axis, brought to mean 0 and variance 1, then · weight + bias:
/// both [features], 1 and 0 at first.
class TREADLE_API LayerNorm final : public Module {
 public:
  LayerNorm(int64_t features, const LayerNormOptions& options = {}, bool bias = true);
  std::string describe() const override;

  Tensor weight, bias;

 protected:
  Tensor forward(const Tensor& x) override;

 private:
  LayerNormOptions options_;
};

}  // namespace treadle
