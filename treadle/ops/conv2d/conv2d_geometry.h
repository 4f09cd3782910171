/// The numbers of one convolution, as loops and kernels need them. Plain data: passed to kernels by value.
#pragma once

#include "treadle/ops/conv2d/conv2d_options.h"
#include "treadle/ops/window_geometry.h"

namespace treadle {

constexpr int64_t divide_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// x [N,C,H,W], w [K,channels,R,S], y [N,K,P,Q]; the same three whether y, dx or dw is computed.
struct Conv2dGeometry : WindowGeometry {
  Operand4 x, w, y;
  int64_t N, C, K;
  int64_t channels, filters;  ///< of one group
  int64_t groups;

  int64_t taps() const { return channels * R * S; }
};

inline Conv2dGeometry make_conv2d_geometry(const TensorView& x, const TensorView& w, const TensorView& y,
                                           const Conv2dOptions& options) {
  Conv2dGeometry g{};
  g.x = make_operand4(x), g.w = make_operand4(w), g.y = make_operand4(y);
  g.N = x.shape[0], g.C = x.shape[1], g.H = x.shape[2], g.W = x.shape[3];
  g.K = w.shape[0], g.R = w.shape[2], g.S = w.shape[3];
  g.P = y.shape[2], g.Q = y.shape[3];
  g.groups = options.groups, g.channels = g.C / g.groups, g.filters = g.K / g.groups;
  g.stride = options.stride, g.dilation = options.dilation;
  g.padding = {options.padding.top, options.padding.left};
  return g;
}

}  // namespace treadle
