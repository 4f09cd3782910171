/// How the SIMD variants of conv2d_max_pool2d read a call.
#pragma once

#include <algorithm>

#include "treadle/graph/variant.h"
#include "treadle/ops/conv2d/cpu/convolution_tasks.h"
#include "treadle/ops/conv2d_max_pool2d/conv2d_max_pool2d_geometry.h"
#include "treadle/ops/conv2d_max_pool2d/cpu/pooled_output.h"

namespace treadle {

inline Conv2dMaxPool2dGeometry geometry_of(const Call& call) {
  return make_conv2d_max_pool2d_geometry(call.input(0), call.input(1), call.output(),
                                         call.options<Conv2dMaxPool2dOptions>());
}

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

/// Whether pooling takes windows of 2×2 side by side.
inline bool pools_2x2(const Conv2dMaxPool2dOptions& o) {
  return o.pool_kernel == Pair(2) && pool_stride(o.pool_stride, o.pool_kernel) == Pair(2) &&
         o.pool_padding == Pads(0);
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

}  // namespace treadle
