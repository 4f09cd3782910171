#include "treadle/nn/linear.h"

#include "treadle/core/error.h"
#include "treadle/nn/init.h"
#include "treadle/ops/matrix/linear.h"

namespace treadle {

namespace {

Tensor empty_weight(int64_t in, int64_t out) {
  require<ShapeError>(in >= 0 && out >= 0, "Linear: {} inputs and {} outputs cannot be negative", in, out);
  return Tensor::empty_strided({out, in}, {1, out}, DType::f32, kCpu);
}

}  // namespace

Linear::Linear(int64_t in_features, int64_t out_features, bool with_bias, Generator& generator)
    : weight(register_parameter("weight", empty_weight(in_features, out_features))) {
  init_uniform_fan_in(weight, in_features, generator);
  if (!with_bias) return;
  bias = register_parameter("bias", Tensor::empty({out_features}));
  init_uniform_fan_in(bias, in_features, generator);
}

Tensor Linear::forward(const Tensor& x) { return linear(x, weight, bias); }

std::string Linear::describe() const {
  return fmt::format("Linear({}, {}{})", weight.size(1), weight.size(0), bias.defined() ? "" : ", no bias");
}

int64_t Linear::multiply_adds(std::span<const Shape>, std::span<const Shape> outputs) const {
  return outputs[0].numel() * weight.size(1);
}

}  // namespace treadle
