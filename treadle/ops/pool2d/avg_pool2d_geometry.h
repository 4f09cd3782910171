/// The numbers of one average-pooling, as loops and kernels need them. Plain data: passed to kernels by
/// value.
#pragma once

#include "treadle/ops/pool2d/avg_pool2d_options.h"
#include "treadle/ops/pool2d/pool2d_geometry.h"

namespace treadle {

struct AvgPool2dGeometry : Pool2dGeometry {
  Pair counted_before, counted_after;  ///< of the padding
  int64_t divisor;

  /// What the sum of window (p, q) is divided by.
  TREADLE_DEVICE int64_t places(int64_t p, int64_t q) const {
    if (divisor) return divisor;
    return places_between(row(p, 0), R, -counted_before.height, H + counted_after.height) *
           places_between(column(q, 0), S, -counted_before.width, W + counted_after.width);
  }

 private:
  TREADLE_DEVICE static int64_t places_between(int64_t begin, int64_t count, int64_t least, int64_t most) {
    const int64_t end = begin + count < most ? begin + count : most;
    return end - (begin > least ? begin : least);
  }
};

inline AvgPool2dGeometry make_avg_pool2d_geometry(const TensorView& x, const TensorView& y,
                                                  const AvgPool2dOptions& o) {
  AvgPool2dGeometry g{make_pool2d_geometry(x, y, o.kernel, o.stride, o.padding, 1), 0, 0, o.divisor};
  if (o.count_include_pad) {
    g.counted_before = {o.padding.top, o.padding.left};
    g.counted_after = {o.padding.bottom - o.uncounted.height, o.padding.right - o.uncounted.width};
  }
  return g;
}

}  // namespace treadle
