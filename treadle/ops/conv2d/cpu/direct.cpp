/// conv2d and conv2d_relu on the cpu device for images of few channels, as first layers have them, f32,
/// channels-last: products of windows where they lie. Some rows of an image at a time are copied with their
/// padding, so that a window has no border.
#include <algorithm>

#include "treadle/graph/variant.h"
#include "treadle/ops/conv2d/conv2d_geometry.h"
#include "treadle/ops/conv2d/conv2d_options.h"
#include "treadle/ops/conv2d/cpu/convolution_tasks.h"
#include "treadle/ops/conv2d/cpu/direct_rows.h"
#include "treadle/ops/conv2d/cpu/filter_columns.h"
#include "treadle/ops/conv2d/cpu/padded_rows.h"

namespace treadle {
namespace {

constexpr int64_t kMostTaps = 128;        ///< whose filters stay in L1
constexpr int64_t kRowFloats = 4 * 1024;  ///< of an image that are copied at a time, and stay in L1

constexpr int64_t kMostStride = 16, kMostPadding = 64;  ///< rows with their padding stay near those of x

const float* padded_bias(const Call& call, int64_t K, int64_t padded) {
  float* const bias = call.workspace<float>(padded);
  std::fill_n(bias, padded, 0.0f);
  for (int64_t k = 0; k < K && bias_of(call); ++k) bias[k] = bias_of(call)[k * bias_step(call)];
  return bias;
}

template <bool Relu>
void run_direct(const Call& call) {
  const TensorView &x = call.input(0), &y = call.output();
  const Conv2dGeometry g = make_conv2d_geometry(x, call.input(1), y, call.options<Conv2dOptions>());
  const int64_t padded = divide_up(g.K, cpu::kDirectFilters) * cpu::kDirectFilters;
  const int64_t width = (g.Q - 1) * g.stride.width + g.S, length = width * g.C;
  const int64_t at_once = std::clamp<int64_t>((kRowFloats / length - g.R) / g.stride.height + 1, 1, g.P);
  const Cut parts(g.N * g.P, parts_of(g.N * g.P * g.Q * g.taps() * padded));
  const int64_t size = ((at_once - 1) * g.stride.height + g.R) * length;
  float* const scratch = call.workspace<float>(size * parts.parts());
  const cpu::DirectRow common{g.R,
                              g.S * g.C,
                              g.Q,
                              g.K,
                              padded,
                              nullptr,
                              length,
                              g.stride.width * g.C,
                              filters_as_columns(call, g, padded),
                              padded_bias(call, g.K, padded),
                              y.as<float>(),
                              Relu};
  parallel_for_parts(parts, [&](int64_t part, Range own) {
    float* const rows = scratch + part * size;
    for (int64_t i = own.begin; i < own.end;) {
      const int64_t n = i / g.P, p = i % g.P, count = std::min({at_once, g.P - p, own.end - i});
      copy_padded_rows(g, x.as<float>(), n, {p, p + count}, width, length, rows);
      for (int64_t k = 0; k < count; ++k) {
        cpu::DirectRow row = common;
        row.rows = rows + k * g.stride.height * length, row.y += (i + k) * g.Q * g.K;
        cpu::direct_row(row);
      }
      i += count;
    }
  });
}

/// Whether windows are small, near one another and without gaps, and results are dense.
bool takes_direct(const Call& call) {
  const auto& o = call.options<Conv2dOptions>();
  const auto& pads = o.padding;
  if (std::max(o.stride.height, o.stride.width) > kMostStride ||
      std::max({pads.top, pads.left, pads.bottom, pads.right}) > kMostPadding)
    return false;
  const TensorView &x = call.input(0), &w = call.input(1), &y = call.output();
  return x.dtype == DType::f32 && o.groups == 1 && o.dilation == Pair(1) && x.numel() > 0 && y.numel() > 0 &&
         y.channels_last() && w.shape[1] * w.shape[2] * w.shape[3] <= kMostTaps;
}

}  // namespace

namespace ops {

void register_conv2d_cpu_direct(Registry& registry) {
  auto add = [&](const char* op, void (*run)(const Call&)) {
    add_variant(
        registry, op,
        {.name = "direct", .device = DeviceKind::cpu, .run = run, .when = takes_direct, .preference = 11});
  };
  add("conv2d", run_direct<false>);
  add("conv2d_relu", run_direct<true>);
}

}  // namespace ops
}  // namespace treadle
