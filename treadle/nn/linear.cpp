#include "treadle/nn/linear.h"

#include <fmt/core.h>

#include "treadle/nn/init.h"
#include "treadle/ops/linear.h"

namespace treadle {

Linear::Linear(int64_t in_features, int64_t out_features, bool with_bias, Generator& generator)
    : weight(register_parameter("weight", Tensor::empty_strided({out_features, in_features},
                                                                {1, out_features}, DType::f32, kCpu))) {
  init_uniform_fan_in(weight, in_features, generator);
  if (!with_bias) return;
  bias = register_parameter("bias", Tensor::empty({out_features}));
  init_uniform_fan_in(bias, in_features, generator);
}

Tensor Linear::forward(const Tensor& x) { return linear(x, weight, bias); }

std::string Linear::describe() const {
  return fmt::format("Linear({}, {}{})", weight.size(1), weight.size(0), bias.defined() ? "" : ", no bias");
}

int64_t Linear::multiply_adds(const Shape&, const Shape& output) const {
  return output.numel() * weight.size(1);
}

}  // namespace treadle
