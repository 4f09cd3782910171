/// Depthwise convolution, one filter for each channel, of channels-last operands: a vector holds neighbouring
/// channels, and pixels that several results share are loaded once. In SIMD instructions chosen at run time.
#pragma once

#include "treadle/ops/window_geometry.h"

namespace treadle::cpu {

/// Element (n, c, h, w) is at[n·image_step + c + h·row_step + w·column_step].
template <class T>
struct DepthwiseImages {
  T* at;
  int64_t image_step, row_step, column_step;
};

/// Floats from one tap's channels to the next one's.
constexpr int64_t depthwise_tap_step(int64_t channels) { return (channels + 15) / 16 * 16; }

struct DepthwiseConvolution {
  WindowGeometry g;
  int64_t channels;
  DepthwiseImages<const float> x;
  const float* zeros;  ///< a row of an image
  const float* taps;   ///< [R·S][depthwise_tap_step(channels)]
  const float* bias;   ///< one for each channel
  DepthwiseImages<float> y;
  bool relu;
};
/// Rows [begin, end) of results, numbered through all images.
void depthwise_rows(const DepthwiseConvolution& convolution, int64_t begin, int64_t end);

struct DepthwiseWeights {
  WindowGeometry g;
  int64_t channels;
  DepthwiseImages<const float> x;
  const float* zeros;
  DepthwiseImages<const float> dy;
};
/// Adds what rows [begin, end) of dy contribute to sums[R·S][depthwise_tap_step(channels)].
void depthwise_add_weights(const DepthwiseWeights& weights, int64_t begin, int64_t end, float* sums);

}  // namespace treadle::cpu
