/// What the layers of convolutions share: checks of their parameters, and words for their options.
#pragma once

#include <string>

#include "treadle/core/error.h"
#include "treadle/ops/conv2d/conv2d_options.h"

namespace treadle {

/// Throws ShapeError unless all are positive and the groups divide the channels.
inline void require_channels_and_kernel(const char* layer, int64_t in_channels, int64_t out_channels,
                                        Pair kernel, int64_t groups) {
  require<ShapeError>(groups > 0 && in_channels % groups == 0 && out_channels % groups == 0,
                      "{}: {} input and {} output channels do not divide into {} groups", layer, in_channels,
                      out_channels, groups);
  require<ShapeError>(in_channels > 0 && out_channels > 0 && kernel.height > 0 && kernel.width > 0,
                      "{}: {} input and {} output channels and the kernel [{}, {}] must be positive", layer,
                      in_channels, out_channels, kernel.height, kernel.width);
}

/// The options that differ from their defaults: ", stride 2×2, groups 3".
inline std::string describe_window(const Conv2dOptions& options) {
  const Conv2dOptions defaults;
  std::string text;
  if (!(options.stride == defaults.stride))
    text += fmt::format(", stride {}×{}", options.stride.height, options.stride.width);
  if (!(options.padding == defaults.padding))
    text += fmt::format(", padding {} {} {} {}", options.padding.top, options.padding.left,
                        options.padding.bottom, options.padding.right);
  if (!(options.dilation == defaults.dilation))
    text += fmt::format(", dilation {}×{}", options.dilation.height, options.dilation.width);
  if (options.groups != 1) text += fmt::format(", groups {}", options.groups);
  return text;
}

}  // namespace treadle
