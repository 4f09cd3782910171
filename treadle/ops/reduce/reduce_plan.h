/// How a reduction walks its input: a nest over the outputs and a nest over what each output reduces.
#pragma once

#include <utility>

#include "treadle/ops/strided_operands.h"

namespace treadle {

/// Which axes are reduced; no axes mean all. The axes are in range.
class ReducedAxes {
 public:
  ReducedAxes(const Dims& axes, int rank) {
    for (int64_t axis : axes) bits_ |= 1u << (axis < 0 ? axis + rank : axis);
    if (axes.empty()) bits_ = ~0u;
  }
  bool contains(int axis) const { return bits_ >> axis & 1u; }

 private:
  unsigned bits_ = 0;
};

/// The extents (or strides) of the reduced axes, or of the others.
inline Dims select_axes(const Dims& dims, const ReducedAxes& axes, bool reduced) {
  Dims selected;
  for (int axis = 0; axis < dims.rank(); ++axis)
    if (axes.contains(axis) == reduced) selected.push_back(dims[axis]);
  return selected;
}

/// x's shape without the reduced axes, or with extents of 1 there.
inline Shape reduced_shape(const Shape& shape, const ReducedAxes& axes, bool keep_axes) {
  if (!keep_axes) return select_axes(shape, axes, false);
  Shape result = shape;
  for (int axis = 0; axis < shape.rank(); ++axis)
    if (axes.contains(axis)) result[axis] = 1;
  return result;
}

struct ReducePlan {
  Strided<2> kept;     ///< operands: row-major output, x
  Strided<2> reduced;  ///< operands: x, position among the reduced elements
};

enum class ReduceOrder {
  memory,    ///< as x lies in memory, axes merged where possible; positions mean nothing
  positions  ///< by rising position, the row-major index over the reduced axes
};

inline ReducePlan make_reduce_plan(const TensorView& x, const ReducedAxes& axes, ReduceOrder order) {
  const Shape kept = select_axes(x.shape, axes, false), reduced = select_axes(x.shape, axes, true);
  const Strides kept_x = select_axes(x.strides, axes, false), reduced_x = select_axes(x.strides, axes, true);
  ReducePlan plan;
  plan.kept = make_strided<2>(kept, {contiguous_strides(kept), kept_x});
  if (order == ReduceOrder::memory) {
    plan.reduced = make_strided<2>(reduced, {reduced_x, reduced_x});
  } else {
    plan.reduced = make_strided<2>(reduced, {contiguous_strides(reduced), reduced_x});
    std::swap(plan.reduced.strides[0], plan.reduced.strides[1]);
  }
  return plan;
}

/// Whether neighbouring outputs read neighbouring elements and each output's own elements lie apart: column
/// sums.
inline bool reduces_columns(const ReducePlan& plan) {
  const int kept = plan.kept.rank - 1, reduced = plan.reduced.rank - 1;
  return plan.kept.shape[kept] > 1 && plan.kept.strides[1][kept] == 1 &&
         plan.reduced.strides[0][reduced] != 1;
}

/// Operands dx, dy, positions and an element's own position, over x's shape: the nest of an extremum's
/// gradient.
inline Strided<4> make_extremum_gradient_nest(const TensorView& dx, const TensorView& dy,
                                              const TensorView& positions, const ReducedAxes& axes) {
  const Strides own = contiguous_strides(select_axes(dx.shape, axes, true));
  std::array<Strides, 4> strides{dx.strides, {}, {}, {}};
  const bool keeps = dy.shape.rank() == dx.shape.rank();
  for (int axis = 0, kept = 0, reduced = 0; axis < dx.shape.rank(); ++axis) {
    const bool is_reduced = axes.contains(axis);
    strides[1].push_back(is_reduced ? 0 : dy.strides[keeps ? axis : kept]);
    strides[2].push_back(is_reduced ? 0 : positions.strides[keeps ? axis : kept]);
    strides[3].push_back(is_reduced ? own[reduced] : 0);
    ++(is_reduced ? reduced : kept);
  }
  return make_strided<4>(dx.shape, strides);
}

}  // namespace treadle
