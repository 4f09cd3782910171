/// How the SIMD variants of conv2d_max_pool2d read a call, and cut it into tasks for threads.
#pragma once

#include <algorithm>

#include "treadle/core/parallel_for.h"
#include "treadle/graph/variant.h"
#include "treadle/ops/conv2d_max_pool2d/conv2d_max_pool2d_geometry.h"
#include "treadle/ops/conv2d_max_pool2d/cpu/pooled_output.h"

namespace treadle {

inline constexpr Nanoseconds kProduct{1.0 / 32};
/// Moving so many floats.
inline Nanoseconds copies(int64_t floats) { return {0.125 * double(floats)}; }

inline Conv2dMaxPool2dGeometry geometry_of(const Call& call) {
  return make_conv2d_max_pool2d_geometry(call.input(0), call.input(1), call.output(),
                                         call.options<Conv2dMaxPool2dOptions>());
}

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

/// Whether y, and choice if it is asked for, are channels-last: small ones may be row-major as well.
inline bool has_channels_last_output(const Call& call) {
  return std::all_of(call.outputs.begin(), call.outputs.end(),
                     [](const TensorView& output) { return output.channels_last(); });
}

/// Whether the results are f32 and lie as infer has them: channels-last or row-major.
inline bool has_plain_output(const Call& call) {
  return call.input(0).dtype == DType::f32 &&
         (has_channels_last_output(call) ||
          std::all_of(call.outputs.begin(), call.outputs.end(),
                      [](const TensorView& output) { return output.contiguous(); }));
}

inline cpu::PooledOutput output_of(const Call& call, const Conv2dMaxPool2dGeometry& g) {
  const int64_t windows = g.pool.P * g.pool.Q, filters = g.conv.K;
  const bool channels_last = has_channels_last_output(call);
  const auto& options = call.options<Conv2dMaxPool2dOptions>();
  return {call.output(0).as<float>(),
          options.choice ? call.output(1).as<uint8_t>() : nullptr,
          windows,
          windows * filters,
          channels_last ? filters : 1,
          channels_last ? 1 : windows,
          options.relu};
}

inline const float* bias_of(const Call& call) {
  return call.has_input(2) ? call.input(2).as<float>() : nullptr;
}
inline int64_t bias_step(const Call& call) { return call.has_input(2) ? call.input(2).strides[0] : 0; }

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
