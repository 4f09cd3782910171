/// The numbers of one average-pooling, as loops and kernels need them. Plain data: passed to kernels by
/// value.
#pragma once

#include "treadle/ops/pool2d/avg_pool2d_options.h"
#include "treadle/ops/pool2d/pool2d_geometry.h"

namespace treadle {

struct AvgPool2dGeometry : Pool2dGeometry {
  bool count_include_pad;

  /// What the sum of window (p, q) is divided by.
  TREADLE_DEVICE int64_t places(int64_t p, int64_t q) const {
    if (count_include_pad) return R * S;
    return places_inside(row(p, 0), R, H) * places_inside(column(q, 0), S, W);
  }

 private:
  TREADLE_DEVICE static int64_t places_inside(int64_t begin, int64_t count, int64_t size) {
    const int64_t end = begin + count < size ? begin + count : size;
    return end - (begin > 0 ? begin : 0);
  }
};

inline AvgPool2dGeometry make_avg_pool2d_geometry(const TensorView& x, const TensorView& y,
                                                  const AvgPool2dOptions& o) {
  return {make_pool2d_geometry(x, y, o.kernel, o.stride, o.padding, 1), o.count_include_pad};
}

}  // namespace treadle
