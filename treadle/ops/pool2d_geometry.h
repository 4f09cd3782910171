/// The numbers of one pooling, as loops and kernels need them. Plain data: passed to kernels by value.
#pragma once

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

}  // namespace treadle
