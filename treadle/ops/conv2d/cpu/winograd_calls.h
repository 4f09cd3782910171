/// Which convolutions Winograd's F(4×4, 3×3) and F(3×3, 4×4) are for.
#pragma once

#include <algorithm>

#include "treadle/core/tensor_view.h"
#include "treadle/core/work.h"
#include "treadle/ops/conv2d/conv2d_options.h"
#include "treadle/ops/conv2d/cpu/winograd_convolution.h"

namespace treadle {

/// Below the direct variants: where nothing is measured, results keep errors that are small beside the
/// products of each one. Winograd's are small beside those of a whole tile, so that a sum of products with
/// zeros alone gets what its neighbours round.
inline constexpr int kWinogradPreference = 5;

inline int64_t winograd_tiles_along(int64_t results) {
  return (results + cpu::kWinogradResults - 1) / cpu::kWinogradResults;
}

/// Whether results of [.., P, Q] fill half of their tiles: else the products saved are lost at the edges.
inline bool results_fill_tiles(const TensorView& y) {
  const int64_t P = y.shape[2], Q = y.shape[3];
  return 2 * P * Q >=
         winograd_tiles_along(P) * winograd_tiles_along(Q) * cpu::kWinogradResults * cpu::kWinogradResults;
}

/// Whether a convolution of x and w to y is one of f32, 3×3 windows and stride 1, with channels and filters
/// that pay for the transforms. With more padding than 2, results that see nothing of x would not be 0.
inline bool takes_winograd(const Conv2dOptions& o, const TensorView& x, const TensorView& w,
                           const TensorView& y) {
  constexpr int64_t kFewest = 8;
  const int64_t most_padding = std::max({o.padding.top, o.padding.left, o.padding.bottom, o.padding.right});
  return x.dtype == DType::f32 && w.shape[2] == 3 && w.shape[3] == 3 && o.stride == Pair(1) &&
         o.dilation == Pair(1) && o.groups == 1 && most_padding <= 2 && w.shape[0] >= kFewest &&
         w.shape[1] >= kFewest && x.numel() > 0 && results_fill_tiles(y);
}

}  // namespace treadle
