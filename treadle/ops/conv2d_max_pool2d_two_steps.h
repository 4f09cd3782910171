/// What the variants of conv2d_max_pool2d and its gradients share that go in two steps: the convolution's
/// result lies in memory, and pooling windows are laid over it.
#pragma once

#include <algorithm>

#include "treadle/cpu/pool_rows.h"
#include "treadle/graph/op.h"
#include "treadle/graph/select.h"
#include "treadle/ops/conv2d_max_pool2d_geometry.h"

namespace treadle::two_steps {

/// Whether the result next to `image` (x or dx) is to lie channels-last: as the image does, so that no
/// convolution copies it; where the image lies both ways, as `pooled` does.
inline bool wants_channels_last(const TensorView& image, const TensorView& pooled) {
  return image.channels_last() && (!image.contiguous() || pooled.channels_last());
}

/// The convolution's result [N,K,P,Q], or its gradient, in the call's scratch memory; elements are not set.
inline TensorView result_in_scratch(const Call& call, const Conv2dMaxPool2dGeometry& g, bool channels_last) {
  const int64_t* extents = g.conv.y.extents;
  const Shape shape{extents[0], extents[1], extents[2], extents[3]};
  return {call.workspace<float>(shape.numel()), DType::f32, shape,
          channels_last ? channels_last_strides(shape) : contiguous_strides(shape)};
}

/// The same windows over a result that lies in memory.
inline Pool2dGeometry pool_over(const TensorView& result, const TensorView& pooled,
                                const Conv2dMaxPool2dOptions& o) {
  return make_pool2d_geometry(result, pooled, o.pool_kernel, o.pool_stride, o.pool_padding, 1);
}

/// The call of an op inside this one.
inline void run_nested(const Op& op, const Call& call, std::span<const TensorView> inputs,
                       const TensorView& output, const Attributes& attributes) {
  const Call nested{inputs, {&output, 1}, attributes, call.stream, call.scratch};
  select_variant(op, nested, DeviceKind::cpu).run(nested);
}

/// Windows [begin, end) of an axis, whose `taps` places all lie inside `size` places.
inline WindowRange whole_windows(int64_t size, int64_t taps, int64_t stride, int64_t padding,
                                 int64_t windows) {
  const WindowRange first = windows_inside(size, 0, stride, 1, padding, windows),
                    last = windows_inside(size, taps - 1, stride, 1, padding, windows);
  const int64_t begin = std::min(std::max(first.begin, last.begin), windows);
  return {begin, std::clamp(std::min(first.end, last.end), begin, windows)};
}
inline WindowRange whole_rows(const Pool2dGeometry& g) {
  return whole_windows(g.H, g.R, g.stride.height, g.padding.height, g.P);
}
inline WindowRange whole_columns(const Pool2dGeometry& g) {
  return whole_windows(g.W, g.S, g.stride.width, g.padding.width, g.Q);
}

inline constexpr int64_t kMostTaps = 254;

/// The places of a window that lie inside the result, for the row kernels; a place's position is its number
/// in the window.
template <class Pointer>
class WindowTaps {
 public:
  explicit WindowTaps(const Pool2dGeometry& g) : g_(g) {}

  /// Those of window (p, q); `plane` is the result's element (n, k, 0, 0).
  void gather(Pointer plane, int64_t p, int64_t q) {
    count_ = 0;
    for (int64_t r = 0; r < g_.R; ++r)
      for (int64_t s = 0; s < g_.S; ++s) {
        const int64_t h = g_.row(p, r), w = g_.column(q, s);
        if (!g_.inside(h, w)) continue;
        first_[count_] = plane + g_.x.at(0, 0, h, w);
        places_[count_++] = int32_t(r * g_.S + s);
      }
  }
  /// The same taps for the windows or channels that follow, `step` elements apart.
  cpu::RowTaps<Pointer> taps(int64_t step) const { return {count_, first_, places_, step, 0}; }
  bool empty() const { return count_ == 0; }

 private:
  const Pool2dGeometry& g_;
  Pointer first_[kMostTaps];
  int32_t places_[kMostTaps];
  int64_t count_ = 0;
};

}  // namespace treadle::two_steps
