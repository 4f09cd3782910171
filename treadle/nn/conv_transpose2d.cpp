#include "treadle/nn/conv_transpose2d.h"

#include "treadle/core/error.h"
#include "treadle/nn/convolution_checks.h"
#include "treadle/nn/init.h"

namespace treadle {

ConvTranspose2d::ConvTranspose2d(int64_t in_channels, int64_t out_channels, Pair kernel,
                                 const ConvTranspose2dOptions& options, bool with_bias, Generator& generator)
    : options_(options) {
  require_channels_and_kernel("ConvTranspose2d", in_channels, out_channels, kernel, options.groups);
  const int64_t group_channels = out_channels / options.groups,
                fan_in = group_channels * kernel.height * kernel.width;
  weight =
      register_parameter("weight", Tensor::empty({in_channels, group_channels, kernel.height, kernel.width}));
  init_uniform_fan_in(weight, fan_in, generator);
  if (!with_bias) return;
  bias = register_parameter("bias", Tensor::empty({out_channels}));
  init_uniform_fan_in(bias, fan_in, generator);
}

Tensor ConvTranspose2d::forward(const Tensor& x) { return conv_transpose2d(x, weight, bias, options_); }

std::string ConvTranspose2d::describe() const {
  std::string text = fmt::format("ConvTranspose2d({}, {}, {}×{}", weight.size(0),
                                 weight.size(1) * options_.groups, weight.size(2), weight.size(3));
  text += describe_window(options_);
  if (!(options_.output_padding == Pair(0)))
    text +=
        fmt::format(", output padding {}×{}", options_.output_padding.height, options_.output_padding.width);
  return text + (bias.defined() ? ")" : ", no bias)");
}

/// Each element of x meets all filters of its channel.
int64_t ConvTranspose2d::multiply_adds(std::span<const Shape> inputs, std::span<const Shape>) const {
  return inputs[0].numel() * weight.size(1) * weight.size(2) * weight.size(3);
}

}  // namespace treadle
