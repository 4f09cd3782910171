/// How the cpu variants of linear layers divide their work, and what all of them do with biases.
#pragma once

#include <algorithm>

#include "treadle/core/parallel_for.h"
#include "treadle/ops/matrix/linear_update_operands.h"

namespace treadle::linear_parts {

constexpr int64_t kLine = 16;  ///< floats of a cache line

/// Rounded up to whole cache lines.
constexpr int64_t in_lines(int64_t floats) { return (floats + kLine - 1) / kLine * kLine; }

/// Parts that a product is worth.
inline int64_t parts_of(int64_t products) {
  constexpr Nanoseconds kProduct{0.08};
  return parts_worth(products, kProduct);
}

/// Calls run(index) for every part, spread over threads.
template <class Run>
void for_each_part(int64_t parts, Run run) {
  parallel_for_each(parts, num_threads(), [&](int64_t, int64_t i) { run(i); });
}

/// Calls run(index, range) for every part of a cut, spread over threads.
template <class Run>
void for_each_part(const Cut& cut, Run run) {
  for_each_part(cut.parts(), [&](int64_t i) { run(i, cut[i]); });
}

inline bool has_unit_step(int64_t extent, int64_t stride) { return extent <= 1 || stride == 1; }

/// Σ_n dy[n, o] for `count` outputs from `first` on, in the order of n.
inline void sum_over_batch(const TensorView& dy, int64_t first, int64_t count, float* sums) {
  std::fill_n(sums, count, 0.0f);
  for (int64_t n = 0; n < dy.shape[0]; ++n) {
    const float* row = dy.as<float>() + n * dy.strides[0] + first * dy.strides[1];
    if (dy.strides[1] == 1)
      for (int64_t o = 0; o < count; ++o) sums[o] += row[o];
    else
      for (int64_t o = 0; o < count; ++o) sums[o] += row[o * dy.strides[1]];
  }
}

/// Updates elements of b.
inline void update_bias(const TensorView& b, Range r, const float* gradient, const DecayedStep<float>& step) {
  for (int64_t o = r.begin; o < r.end; ++o) step(b.as<float>()[o * b.strides[0]], gradient[o - r.begin]);
}

// A call of a linear update: x, dy, numbers, the tensors of w, perhaps those of b.

inline const TensorView& weight_of(const Call& call) { return call.input(kParametersOfLinearUpdate); }
inline bool updates_bias(const Call& call, int tensors) {
  return call.has_input(kParametersOfLinearUpdate + tensors);
}

/// Whether what is kept of w lies as w does, and b and what is kept of it are dense.
inline bool kept_lies_alike(const Call& call, int tensors) {
  const TensorView& w = weight_of(call);
  auto alike = [&](const TensorView& kept, int axis) {
    return w.shape[axis] <= 1 || kept.strides[axis] == w.strides[axis];
  };
  for (int k = kParametersOfLinearUpdate + 1; k < kParametersOfLinearUpdate + tensors; ++k)
    if (!alike(call.input(k), 0) || !alike(call.input(k), 1)) return false;
  for (int k = kParametersOfLinearUpdate + tensors; k < int(call.inputs.size()); ++k)
    if (!has_unit_step(w.shape[0], call.input(k).strides[0])) return false;
  return true;
}

}  // namespace treadle::linear_parts
