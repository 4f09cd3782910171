#include "treadle/nn/conv2d.h"

#include "treadle/core/error.h"
#include "treadle/nn/init.h"

namespace treadle {

Conv2d::Conv2d(int64_t in_channels, int64_t out_channels, Pair kernel, const Conv2dOptions& options,
               bool with_bias, Generator& generator)
    : options_(options) {
  require<ShapeError>(
      options.groups > 0 && in_channels % options.groups == 0 && out_channels % options.groups == 0,
      "Conv2d: {} input and {} output channels do not divide into {} groups", in_channels, out_channels,
      options.groups);
  require<ShapeError>(in_channels > 0 && out_channels > 0 && kernel.height > 0 && kernel.width > 0,
                      "Conv2d: {} input and {} output channels and the kernel [{}, {}] must be positive",
                      in_channels, out_channels, kernel.height, kernel.width);
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
  std::string text = fmt::format("Conv2d({}, {}, {}×{}", weight.size(1) * options_.groups, weight.size(0),
                                 weight.size(2), weight.size(3));
  const Conv2dOptions defaults;
  if (!(options_.stride == defaults.stride))
    text += fmt::format(", stride {}×{}", options_.stride.height, options_.stride.width);
  if (!(options_.padding == defaults.padding))
    text += fmt::format(", padding {} {} {} {}", options_.padding.top, options_.padding.left,
                        options_.padding.bottom, options_.padding.right);
  if (!(options_.dilation == defaults.dilation))
    text += fmt::format(", dilation {}×{}", options_.dilation.height, options_.dilation.width);
  if (options_.groups != 1) text += fmt::format(", groups {}", options_.groups);
  return text + (bias.defined() ? ")" : ", no bias)");
}

int64_t Conv2d::multiply_adds(std::span<const Shape>, std::span<const Shape> outputs) const {
  return outputs[0].numel() * weight.size(1) * weight.size(2) * weight.size(3);
}

}  // namespace treadle
