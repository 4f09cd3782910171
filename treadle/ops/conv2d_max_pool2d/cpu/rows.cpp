/// conv2d_max_pool2d on the cpu device for first layers, f32: vectors of windows instead of filters, for
/// kernels of any size, stride 1, pooled 2×2.
#include <algorithm>

#include "treadle/graph/variant.h"
#include "treadle/ops/conv2d_max_pool2d/cpu/rows_max_pool.h"
#include "treadle/ops/conv2d_max_pool2d/cpu/tasks.h"

namespace treadle {
namespace {

using Geometry = Conv2dMaxPool2dGeometry;

/// The filters tap by tap, then the bias.
const float* filters_by_tap(const Call& call, const Conv2dGeometry& g) {
  const int64_t size = cpu::rows_filters_size(g.taps(), g.K);
  return call.kept<float>(size, {1, 2}, [&](float* packed) {
    const float *w = call.input(1).as<float>(), *bias = bias_of(call);
    parallel_for(g.taps(), copies(g.K), [&](int64_t begin, int64_t end) {
      for (int64_t tap = begin; tap < end; ++tap) {
        const float* from = w + g.w.at(0, tap / (g.R * g.S), tap / g.S % g.R, tap % g.S);
        for (int64_t k = 0; k < g.K; ++k) packed[tap * g.K + k] = from[k * g.w.strides[0]];
      }
    });
    std::fill(packed + g.taps() * g.K, packed + size, 0.0f);
    for (int64_t k = 0; bias && k < g.K; ++k) packed[g.taps() * g.K + k] = bias[k * bias_step(call)];
  });
}

/// Rows of windows that are worked on together: as many as have their pixels, taken apart, in the first-level
/// cache beside the filters, but several vectors of windows.
int64_t rows_at_once(const Geometry& g) {
  constexpr int64_t kPixels = 8 * 1024, kFewestWindows = 64;
  int64_t rows = g.pool.P;
  while ((rows / 2) * g.pool.Q >= kFewestWindows &&
         cpu::rows_scratch_size(g.conv.C, {g.conv.R, g.conv.S, rows, g.pool.Q}) > kPixels)
    rows = divide_up(rows, 2);
  return rows;
}

/// Threads share the rows of windows of all images.
void run_rows(const Call& call) {
  const Geometry g = geometry_of(call);
  const Conv2dGeometry& conv = g.conv;
  const float *x = call.input(0).as<float>(), *w = filters_by_tap(call, conv);
  const cpu::PooledOutput output = output_of(call, g);
  const int64_t rows = conv.N * g.pool.P, band = rows_at_once(g);
  const int64_t parts = parts_of(rows * g.pool.Q * 4 * conv.K * conv.taps());
  const cpu::WindowPlanes most{conv.R, conv.S, band, g.pool.Q};
  const int64_t scratch_bytes = whole_lines(cpu::rows_scratch_size(conv.C, most) * int64_t(sizeof(float)));
  std::byte* scratch = call.workspace<std::byte>(parts * scratch_bytes);
  for_each_part(parts, rows, [&](int64_t part, int64_t first, int64_t last) {
    while (first < last) {
      const int64_t n = first / g.pool.P, p = first % g.pool.P;
      const int64_t count = std::min({last - first, g.pool.P - p, band});
      const cpu::WindowImage image{x + n * conv.x.strides[0],
                                   conv.C,
                                   conv.H,
                                   conv.W,
                                   conv.x.strides[1],
                                   conv.x.strides[2],
                                   conv.x.strides[3],
                                   2 * p - conv.padding.height,
                                   -conv.padding.width};
      cpu::rows_max_pool(image, {conv.R, conv.S, count, g.pool.Q}, w, conv.K, first * g.pool.Q, output,
                         reinterpret_cast<float*>(scratch + part * scratch_bytes));
      first += count;
    }
  });
}

bool takes_rows(const Call& call) {
  const auto& o = call.options<Conv2dMaxPool2dOptions>();
  return has_plain_output(call) && o.groups == 1 && o.stride == Pair(1) && o.dilation == Pair(1) &&
         pools_2x2(o);
}

}  // namespace

namespace ops {

void register_conv2d_max_pool2d_cpu_rows(Registry& registry) {
  add_variant(
      registry, "conv2d_max_pool2d",
      {.name = "rows", .device = DeviceKind::cpu, .run = run_rows, .when = takes_rows, .preference = 9});
}

}  // namespace ops
}  // namespace treadle
