#include "treadle/nn/conv2d.h"

#include "treadle/nn/convolution_checks.h"
#include "treadle/nn/init.h"

namespace treadle {

Conv2d::Conv2d(int64_t in_channels, int64_t out_channels, Pair kernel, const Conv2dOptions& options,
               bool with_bias, Generator& generator)
    : options_(options) {
  require_channels_and_kernel("Conv2d", in_channels, out_channels, kernel, options.groups);
  int64_t group_channels = in_channels / options.groups,
          fan_in = group_channels * kernel.height * kernel.width;
  weight = register_parameter("weight",
                              Tensor::empty({out_channels, group_channels, kernel.height, kernel.width}));
  init_uniform_fan_in(weight, fan_in, generator);
  if (!with_bias) return;
  bias = register_parameter("bias", Tensor::empty({out_channels}));
  init_uniform_fan_in(bias, fan_in, generator);
}

Tensor Conv2d::forward(const Tensor& x) { return conv2d(x, weight, bias, options_); }

std::string Conv2d::describe() const {
  const std::string text = fmt::format("Conv2d({}, {}, {}×{}", weight.size(1) * options_.groups,
                                       weight.size(0), weight.size(2), weight.size(3));
  return text + describe_window(options_) + (bias.defined() ? ")" : ", no bias)");
}

int64_t Conv2d::multiply_adds(std::span<const Shape>, std::span<const Shape> outputs) const {
  return outputs[0].numel() * weight.size(1) * weight.size(2) * weight.size(3);
}

}  // namespace treadle
