/// The numbers of one pooling, as loops and kernels need them. Plain data: passed to kernels by value.
#pragma once

#include <algorithm>

#include "treadle/ops/window_geometry.h"

namespace treadle {

/// x [N,C,H,W], y [N,C,P,Q]; the same two whether y or dx is computed.
struct Pool2dGeometry : WindowGeometry {
  Operand4 x, y;
  int64_t N, C;
};

/// The step between windows: an extent of 0 stands for the kernel's.
constexpr Pair pool_stride(Pair stride, Pair kernel) {
  return {stride.height ? stride.height : kernel.height, stride.width ? stride.width : kernel.width};
}

inline Pool2dGeometry make_pool2d_geometry(const TensorView& x, const TensorView& y, Pair kernel, Pair stride,
                                           const Pads& padding, Pair dilation) {
  Pool2dGeometry g{};
  g.x = make_operand4(x), g.y = make_operand4(y);
  g.N = x.shape[0], g.C = x.shape[1], g.H = x.shape[2], g.W = x.shape[3];
  g.P = y.shape[2], g.Q = y.shape[3];
  g.R = kernel.height, g.S = kernel.width;
  g.stride = pool_stride(stride, kernel), g.dilation = dilation;
  g.padding = {padding.top, padding.left};
  return g;
}

/// Windows [begin, end) of an axis whose first and last tap lie inside.
inline WindowRange whole_windows(WindowRange first, WindowRange last, int64_t windows) {
  const int64_t begin = std::min(std::max(first.begin, last.begin), windows);
  return {begin, std::clamp(std::min(first.end, last.end), begin, windows)};
}
inline WindowRange whole_rows(const Pool2dGeometry& g) {
  return whole_windows(g.rows_inside(0), g.rows_inside(g.R - 1), g.P);
}
inline WindowRange whole_columns(const Pool2dGeometry& g) {
  return whole_windows(g.columns_inside(0), g.columns_inside(g.S - 1), g.Q);
}

/// Calls f(tap, h, w) for the taps of window (p, q) that lie inside the image, at row h and column w; they
/// are numbered row by row.
template <class F>
void for_each_tap_inside(const Pool2dGeometry& g, int64_t p, int64_t q, F f) {
  for (int64_t r = 0; r < g.R; ++r)
    for (int64_t s = 0; s < g.S; ++s) {
      const int64_t h = g.row(p, r), w = g.column(q, s);
      if (g.inside(h, w)) f(r * g.S + s, h, w);
    }
}

}  // namespace treadle
