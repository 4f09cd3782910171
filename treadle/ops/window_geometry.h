/// How windows lie over images: shared by convolution and pooling. Plain data: passed to kernels by value.
#pragma once

#include "treadle/core/geometry.h"
#include "treadle/core/tensor_view.h"
#include "treadle/simt/function_qualifiers.h"

namespace treadle {

/// Extents and strides, in elements, of a rank-4 operand.
struct Operand4 {
  int64_t extents[4];
  int64_t strides[4];
  bool channels_last;  ///< whether channels, and not rows, lie innermost

  TREADLE_DEVICE int64_t at(int64_t i, int64_t j, int64_t k, int64_t l) const {
    return i * strides[0] + j * strides[1] + k * strides[2] + l * strides[3];
  }
  int64_t numel() const { return extents[0] * extents[1] * extents[2] * extents[3]; }
};

inline Operand4 make_operand4(const TensorView& view) {
  Operand4 operand{};
  for (int axis = 0; axis < 4; ++axis)
    operand.extents[axis] = view.shape[axis], operand.strides[axis] = view.strides[axis];
  operand.channels_last = view.strides[1] <= view.strides[3];
  return operand;
}

/// Indices of one element of [N,C,H,W].
struct Position4 {
  int64_t n, c, h, w;
};

/// Position number `linear` in the order of memory of an operand that is channels-last or row-major.
TREADLE_DEVICE inline Position4 position_in(const Operand4& operand, int64_t linear) {
  const int64_t C = operand.extents[1], H = operand.extents[2], W = operand.extents[3];
  Position4 position{};
  if (operand.channels_last) position.c = linear % C, linear /= C;
  position.w = linear % W, linear /= W;
  position.h = linear % H, linear /= H;
  if (!operand.channels_last) position.c = linear % C, linear /= C;
  position.n = linear;
  return position;
}

/// Index of the window whose tap `tap` lies at `place` of an axis, or −1.
template <class Index>
TREADLE_DEVICE Index window_at(Index place, Index tap, Index stride, Index dilation, Index padding,
                               Index windows) {
  const Index distance = place + padding - tap * dilation;
  if (distance < 0 || distance % stride != 0) return -1;
  const Index window = distance / stride;
  return window < windows ? window : -1;
}

/// Windows [begin, end) of an axis.
struct WindowRange {
  int64_t begin, end;
};

/// The windows whose tap `tap` lies inside an axis of `size` places.
inline WindowRange windows_inside(int64_t size, int64_t tap, int64_t stride, int64_t dilation,
                                  int64_t padding, int64_t windows) {
  const int64_t first = tap * dilation - padding;  // place under the first window's tap
  const int64_t begin = first >= 0 ? 0 : (-first + stride - 1) / stride;
  const int64_t end = first >= size ? 0 : (size - 1 - first) / stride + 1;
  return {begin, end < windows ? end : windows};
}

/// Windows [P,Q] of R × S taps over images of H × W places.
struct WindowGeometry {
  int64_t H, W, R, S, P, Q;
  Pair stride, dilation, padding;  ///< padding: top and left

  /// Row under tap r of window p; may lie outside.
  TREADLE_DEVICE int64_t row(int64_t p, int64_t r) const {
    return p * stride.height + r * dilation.height - padding.height;
  }
  TREADLE_DEVICE int64_t column(int64_t q, int64_t s) const {
    return q * stride.width + s * dilation.width - padding.width;
  }
  TREADLE_DEVICE bool inside(int64_t h, int64_t w) const { return h >= 0 && h < H && w >= 0 && w < W; }
  WindowRange rows_inside(int64_t r) const {
    return windows_inside(H, r, stride.height, dilation.height, padding.height, P);
  }
  WindowRange columns_inside(int64_t s) const {
    return windows_inside(W, s, stride.width, dilation.width, padding.width, Q);
  }
  /// The window whose tap r lies in row h, or −1.
  TREADLE_DEVICE int64_t window_of_row(int64_t h, int64_t r) const {
    return window_at(h, r, stride.height, dilation.height, padding.height, P);
  }
  TREADLE_DEVICE int64_t window_of_column(int64_t w, int64_t s) const {
    return window_at(w, s, stride.width, dilation.width, padding.width, Q);
  }
};

}  // namespace treadle
