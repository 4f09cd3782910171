/// How the SIMD variants of convolutions cut a call into tasks for threads, and bring operands to
/// channels-last.
#pragma once

#include <algorithm>
#include <cstdint>

#include "treadle/core/parallel_for.h"
#include "treadle/graph/variant.h"

namespace treadle {

inline constexpr Nanoseconds kProduct{1.0 / 32};
/// Moving so many floats.
inline Nanoseconds copies(int64_t floats) { return {0.125 * double(floats)}; }

/// Parts that so many products are cut into, one for each thread.
inline int64_t parts_of(int64_t products) { return parts_worth(products, kProduct); }

/// Calls f(thread, first, last) for ranges that cover [0, count), on so many threads: one each or, where
/// there is much to do, as they get free. Of little work each keeps the same, which is then in its cache.
template <class F>
void for_each_part(int64_t threads, int64_t count, F f) {
  constexpr int64_t kPartsPerThread = 8;
  const int64_t many = threads * kPartsPerThread;
  const Cut cut(count, threads > 1 && count >= many ? many : threads);
  parallel_for_each(cut.parts(), threads,
                    [&](int64_t thread, int64_t i) { f(thread, cut[i].begin, cut[i].end); });
}

constexpr int64_t whole_lines(int64_t bytes) { return (bytes + 63) / 64 * 64; }

inline const float* bias_of(const Call& call) {
  return call.has_input(2) ? call.input(2).as<float>() : nullptr;
}
inline int64_t bias_step(const Call& call) { return call.has_input(2) ? call.input(2).strides[0] : 0; }

/// The bias as numbers that follow one another; null where there is none.
inline const float* bias_in_a_row(const Call& call, int64_t filters) {
  if (!bias_of(call) || bias_step(call) == 1) return bias_of(call);
  float* row = call.workspace<float>(filters);
  for (int64_t k = 0; k < filters; ++k) row[k] = bias_of(call)[k * bias_step(call)];
  return row;
}

/// Copies `count` pixels of a row, whose channels lie `channel_step` apart, to channels-last.
inline void copy_pixels(const float* from, int64_t channel_step, int64_t pixel_step, int64_t count,
                        int64_t channels, float* to) {
  if ((channel_step == 1 || channels == 1) && pixel_step == channels) {
    std::copy_n(from, count * channels, to);
    return;
  }
  for (int64_t c = 0; c < channels; ++c)
    for (int64_t w = 0; w < count; ++w) to[w * channels + c] = from[c * channel_step + w * pixel_step];
}

}  // namespace treadle
