/// The shape rules that the pooling ops share.
#pragma once

#include "treadle/core/error.h"
#include "treadle/graph/spec.h"
#include "treadle/ops/image_spec.h"
#include "treadle/ops/pool2d/pool2d_geometry.h"

namespace treadle {

/// Shape of y for x [N,C,H,W]. Throws ShapeError when the options make no sense or the window does not fit.
inline Shape pool2d_output_shape(const char* op, const Shape& x, Pair kernel, Pair stride,
                                 const Pads& padding, Pair dilation) {
  require<ShapeError>(x.rank() == 4, "{}: x has shape {}, expected 4 axes", op, x);
  auto between = [](int64_t least, Pair pair) {
    return std::min(pair.height, pair.width) >= least && std::max(pair.height, pair.width) <= kMostGeometry;
  };
  require<ShapeError>(between(1, kernel) && between(1, dilation),
                      "{}: kernel [{}, {}] and dilation [{}, {}] must be from 1 to {}", op, kernel.height,
                      kernel.width, dilation.height, dilation.width, kMostGeometry);
  require<ShapeError>(between(0, stride), "{}: stride [{}, {}] must be from 0 to {}", op, stride.height,
                      stride.width, kMostGeometry);
  const int64_t height = dilation.height * (kernel.height - 1) + 1,
                width = dilation.width * (kernel.width - 1) + 1;
  auto fits = [](int64_t pad, int64_t extent) { return pad >= 0 && pad < extent; };
  require<ShapeError>(fits(padding.top, height) && fits(padding.bottom, height) &&
                          fits(padding.left, width) && fits(padding.right, width),
                      "{}: padding [{}, {}, {}, {}] must be from 0 to less than the window's extent [{}, {}]",
                      op, padding.top, padding.left, padding.bottom, padding.right, height, width);
  const Pair step = pool_stride(stride, kernel);
  Shape y{x[0], x[1],
          window_positions(x[2], padding.top, padding.bottom, kernel.height, step.height, dilation.height),
          window_positions(x[3], padding.left, padding.right, kernel.width, step.width, dilation.width)};
  require<ShapeError>(x[2] > 0 && x[3] > 0 && y[2] > 0 && y[3] > 0,
                      "{}: the window's extent [{}, {}] does not fit into x {} with its padding", op, height,
                      width, x);
  return y;
}

/// What ceil_mode adds to the padding behind an axis of `size` places.
inline int64_t missing_padding(int64_t size, int64_t before, int64_t after, int64_t extent, int64_t step) {
  const int64_t rest = size + before + after - extent;
  int64_t last = (rest + step - 1) / step * step;
  if (last >= size + before) last -= step;
  return std::max<int64_t>(last - rest, 0);
}

/// The same for both axes of x [N,C,H,W], the window's elements `dilation` apart.
inline Pair missing_padding(const Shape& x, Pair kernel, Pair stride, const Pads& padding, Pair dilation) {
  const Pair step = pool_stride(stride, kernel);
  return {missing_padding(x[2], padding.top, padding.bottom, dilation.height * (kernel.height - 1) + 1,
                          step.height),
          missing_padding(x[3], padding.left, padding.right, dilation.width * (kernel.width - 1) + 1,
                          step.width)};
}

}  // namespace treadle
