/// How the cpu variants of linear layers divide their work, and what all of them do with biases.
#pragma once

#include <algorithm>

#include "treadle/core/parallel_for.h"
#include "treadle/kernels/optimizer_functions.h"
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

/// b -= rate·(Σ_n dy + weight_decay·b), rounded as sgd_update rounds.
inline void update_bias(const LinearUpdateOperands& p, const TensorView& dy, Range r, float rate,
                        float weight_decay, float* sums) {
  sum_over_batch(dy, r.begin, r.size(), sums);
  const SgdStep<float> step{rate, weight_decay};
  for (int64_t o = r.begin; o < r.end; ++o) step(p.at<float>(p.b, o * p.b_step), sums[o - r.begin]);
}

}  // namespace treadle::linear_parts
