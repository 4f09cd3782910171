/// conv2d_max_pool2d on the cpu device as sums of products in SIMD instructions, f32: any window, stride,
/// padding, dilation and groups.
#include <algorithm>

#include "treadle/graph/variant.h"
#include "treadle/ops/conv2d/cpu/padded_rows.h"
#include "treadle/ops/conv2d_max_pool2d/cpu/tasks.h"
#include "treadle/ops/conv2d_max_pool2d/cpu/tiled_max_pool.h"

namespace treadle {
namespace {

using Geometry = Conv2dMaxPool2dGeometry;

/// A call cut into bands of pooled rows and blocks of filters.
struct TiledPlan {
  Geometry g;
  bool padded;      ///< the images are copied with their padding
  Operand4 x;       ///< as the kernel reads it: strides of the copy, if there is one
  int64_t width;    ///< of the copy
  int64_t columns;  ///< of the convolution's result that are looked at
  int64_t band;     ///< pooled rows worked on together, at most
  int64_t blocks, blocks_per_group;

  explicit TiledPlan(const Geometry& geometry);
  Conv2dGeometry const& conv() const { return g.conv; }
  /// Rows of the convolution's result under pooled rows [begin, end).
  WindowRange rows(int64_t begin, int64_t end) const {
    return {std::max<int64_t>(g.pool.row(begin, 0), 0),
            std::min(g.pool.row(end - 1, g.pool.R - 1) + 1, g.pool.H)};
  }
  int64_t places() const { return most_rows() * columns; }
  int64_t kernel_bytes() const { return whole_lines(cpu::tiled_scratch_size(places(), band * g.pool.Q)); }
  int64_t copy_bytes() const { return padded ? whole_lines(copied_rows() * x.strides[2] * 4) : 0; }

 private:
  int64_t most_rows() const { return std::min((band - 1) * g.pool.stride.height + g.pool.R, g.pool.H); }
  int64_t copied_rows() const {
    return (most_rows() - 1) * g.conv.stride.height + (g.conv.R - 1) * g.conv.dilation.height + 1;
  }
};

TiledPlan::TiledPlan(const Geometry& geometry) : g(geometry), x(g.conv.x) {
  constexpr int64_t kPlaces = 512;  // results of a block of filters: 32 KiB
  const Conv2dGeometry& c = g.conv;
  columns = std::min(g.pool.column(g.pool.Q - 1, g.pool.S - 1) + 1, g.pool.W);
  // What lies behind the last row and column that the windows reach needs no padding.
  const int64_t last_row = c.row(rows(0, g.pool.P).end - 1, c.R - 1),
                last_column = c.column(columns - 1, c.S - 1);
  padded = c.padding.height > 0 || c.padding.width > 0 || last_row >= c.H || last_column >= c.W;
  width = last_column + c.padding.width + 1;
  if (padded) x.strides[1] = 1, x.strides[3] = c.C, x.strides[2] = width * c.C, x.channels_last = true;
  const int64_t rows_in_places = std::max<int64_t>(kPlaces / columns, 1);
  band = std::clamp<int64_t>((rows_in_places - g.pool.R) / g.pool.stride.height + 1, 1, g.pool.P);
  blocks_per_group = (c.filters + cpu::kTiledFilters - 1) / cpu::kTiledFilters;
  blocks = blocks_per_group * c.groups;
}

/// Calls f(tap, c, r, s) in the order of memory of x.
template <class F>
void for_each_tap(const TiledPlan& plan, F f) {
  const Conv2dGeometry& g = plan.g.conv;
  int64_t tap = 0;
  if (plan.x.channels_last) {
    for (int64_t r = 0; r < g.R; ++r)
      for (int64_t s = 0; s < g.S; ++s)
        for (int64_t c = 0; c < g.channels; ++c) f(tap++, c, r, s);
  } else {
    for (int64_t c = 0; c < g.channels; ++c)
      for (int64_t r = 0; r < g.R; ++r)
        for (int64_t s = 0; s < g.S; ++s) f(tap++, c, r, s);
  }
}

/// Offsets of the taps in x, or in a filter.
const int32_t* tap_offsets(const Call& call, const TiledPlan& plan, bool in_x) {
  const Conv2dGeometry& g = plan.g.conv;
  int32_t* taps = call.workspace<int32_t>(g.taps());
  for_each_tap(plan, [&](int64_t tap, int64_t c, int64_t r, int64_t s) {
    taps[tap] =
        int32_t(in_x ? plan.x.at(0, c, r * g.dilation.height, s * g.dilation.width) : g.w.at(0, c, r, s));
  });
  return taps;
}

cpu::TiledFilters filters_of_block(const TiledPlan& plan, int64_t block) {
  const int64_t filters = plan.g.conv.filters, first = block % plan.blocks_per_group * cpu::kTiledFilters;
  return {nullptr, block / plan.blocks_per_group * filters + first,
          std::min(cpu::kTiledFilters, filters - first)};
}

/// Lays the filters out block by block, see TiledFilters.
void pack_filters(const Call& call, const TiledPlan& plan, float* packed) {
  const Conv2dGeometry& g = plan.g.conv;
  const int64_t size = cpu::tiled_block_size(g.taps());
  const float *w = call.input(1).as<float>(), *bias = bias_of(call);
  const int32_t* taps = tap_offsets(call, plan, false);
  parallel_for(plan.blocks, copies(size), [&](int64_t begin, int64_t end) {
    for (int64_t block = begin; block < end; ++block) {
      float* to = packed + block * size;
      const cpu::TiledFilters filters = filters_of_block(plan, block);
      std::fill_n(to, size, 0.0f);
      for (int64_t i = 0; i < filters.count; ++i) {
        const float* filter = w + g.w.at(filters.first + i, 0, 0, 0);
        for (int64_t tap = 0; tap < g.taps(); ++tap) to[tap * cpu::kTiledFilters + i] = filter[taps[tap]];
        if (bias) to[g.taps() * cpu::kTiledFilters + i] = bias[(filters.first + i) * bias_step(call)];
      }
    }
  });
}

const float* packed_filters(const Call& call, const TiledPlan& plan) {
  return call.kept<float>(plan.blocks * cpu::tiled_block_size(plan.g.conv.taps()), {1, 2},
                          [&](float* packed) { pack_filters(call, plan, packed); });
}

/// What the threads of a call share.
struct TiledCall {
  const TiledPlan& plan;
  const float* x;
  const float* packed;
  const int32_t* taps;
  cpu::PooledOutput output;

  /// Pooled rows [begin, begin + count) of image n, for some blocks of filters.
  void run(int64_t n, int64_t begin, int64_t count, Range blocks, std::byte* scratch) const {
    const Geometry& g = plan.g;
    const WindowRange rows = plan.rows(begin, begin + count);
    const float* source = x + g.conv.x.at(n, 0, rows.begin * g.conv.stride.height, 0);
    if (plan.padded) {
      float* copy = reinterpret_cast<float*>(scratch + plan.kernel_bytes());
      copy_padded_rows(plan.g.conv, x, n, rows, plan.width, plan.x.strides[2], copy);
      source = copy;
    }
    cpu::TiledPlaces places{source,
                            taps,
                            g.conv.taps(),
                            rows.begin,
                            0,
                            rows.end - rows.begin,
                            plan.columns,
                            g.conv.stride.height * plan.x.strides[2],
                            g.conv.stride.width * plan.x.strides[3]};
    const cpu::TiledWindows windows{g.pool.R,
                                    g.pool.S,
                                    g.pool.stride.height,
                                    g.pool.stride.width,
                                    g.pool.padding.height,
                                    g.pool.padding.width,
                                    begin,
                                    count,
                                    g.pool.Q};
    for (int64_t block = blocks.begin; block < blocks.end; ++block) {
      cpu::TiledFilters filters = filters_of_block(plan, block);
      filters.w = packed + block * cpu::tiled_block_size(g.conv.taps());
      places.x = source + block / plan.blocks_per_group * g.conv.channels * plan.x.strides[1];
      cpu::tiled_max_pool(places, windows, filters, (n * g.pool.P + begin) * g.pool.Q, output, scratch);
    }
  }
};

/// Threads share the pooled rows of all images, and the filters where rows are few.
void run_tiled(const Call& call) {
  const Geometry g = geometry_of(call);
  const TiledPlan plan(g);
  const TiledCall tiled{plan, call.input(0).as<float>(), packed_filters(call, plan),
                        tap_offsets(call, plan, true), output_of(call, g)};
  const int64_t rows = g.conv.N * g.pool.P;
  const int64_t parts = parts_of(rows * plan.columns * g.pool.R * g.conv.K * g.conv.taps());
  const Cut slices(plan.blocks, (parts + rows - 1) / rows);
  const int64_t scratch_bytes = plan.kernel_bytes() + plan.copy_bytes();
  std::byte* scratch = call.workspace<std::byte>(parts * scratch_bytes);
  for_each_part(parts, rows * slices.parts(), [&](int64_t part, int64_t first, int64_t last) {
    while (first < last) {
      const int64_t row = first % rows, p = row % g.pool.P;
      const Range blocks = slices[first / rows];
      const int64_t count = std::min({last - first, g.pool.P - p, plan.band});
      tiled.run(row / g.pool.P, p, count, blocks, scratch + part * scratch_bytes);
      first += count;
    }
  });
}

/// More than the largest offset in one image or filter.
int64_t reach_of(const TensorView& view) {
  int64_t reach = 0;
  for (int axis = 1; axis < 4; ++axis) reach += view.shape[axis] * view.strides[axis];
  return reach;
}

bool takes_tiled(const Call& call) {
  if (!has_plain_output(call)) return false;
  const TensorView &x = call.input(0), &w = call.input(1);
  const int64_t reach = std::max(reach_of(x), reach_of(w));  // offsets are 32 bits wide
  const Pads& pads = call.options<Conv2dMaxPool2dOptions>().padding;
  const int64_t copied =
      x.shape[1] * (x.shape[2] + pads.top + pads.bottom) * (x.shape[3] + pads.left + pads.right);
  return std::max(reach, copied) <= INT32_MAX;
}

}  // namespace

namespace ops {

void register_conv2d_max_pool2d_cpu_tiled(Registry& registry) {
  add_variant(
      registry, "conv2d_max_pool2d",
      {.name = "tiled", .device = DeviceKind::cpu, .run = run_tiled, .when = takes_tiled, .preference = 10});
}

}  // namespace ops
}  // namespace treadle
