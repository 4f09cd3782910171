#include "treadle/nn/layer_norm.h"

#include "treadle/core/error.h"
#include "treadle/ops/fill/fill.h"

namespace treadle {
namespace {

Shape checked(int64_t features) {
  require<ShapeError>(features >= 0, "LayerNorm: {} features cannot be negative", features);
  return {features};
}

}  // namespace

LayerNorm::LayerNorm(int64_t features, const LayerNormOptions& options, bool with_bias)
    : weight(register_parameter("weight", full(checked(features), 1))), options_(options) {
  if (with_bias) bias = register_parameter("bias", Tensor::zeros({features}));
}

Tensor LayerNorm::forward(const Tensor& x) { return layer_norm(x, weight, bias, options_); }

std::string LayerNorm::describe() const {
  return fmt::format("LayerNorm({}{})", weight.size(0), bias.defined() ? "" : ", no bias");
}

}  // namespace treadle
