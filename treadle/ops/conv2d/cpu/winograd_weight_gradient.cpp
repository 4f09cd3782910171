/// The gradient of conv2d's filters on the cpu device by Winograd's F(3×3, 4×4), f32: 3×3 windows of
/// stride 1.
#include <algorithm>

#include "treadle/graph/variant.h"
#include "treadle/ops/conv2d/conv2d_geometry.h"
#include "treadle/ops/conv2d/cpu/winograd_calls.h"
#include "treadle/ops/conv2d/cpu/winograd_tasks.h"
#include "treadle/ops/conv2d/cpu/winograd_weights.h"

namespace treadle {
namespace {

Conv2dGeometry geometry_of(const Call& call) {
  return make_conv2d_geometry(call.input(0), call.output(), call.input(1),
                              call.options<Conv2dWeightGradientOptions>());
}

/// Tiles in slices (a part of each region), each of which sums on its own, and blocks of filters. The cuts
/// follow from the settings alone, so that the same call gives the same bits wherever it runs.
struct Plan {
  int64_t images, rows, columns, channels, filters;
  TileRegions regions;
  Cut slices, blocks;

  explicit Plan(const Conv2dGeometry& g)
      : images(g.N),
        rows(winograd_tiles_along(g.P)),
        columns(winograd_tiles_along(g.Q)),
        channels(g.C),
        filters(g.K),
        regions(g.N, g.P, g.Q),
        slices(1, 1),
        blocks(1, 1) {
    const int64_t tiles = g.N * rows * columns;
    const int64_t parts = parts_of(regions.products(images) * channels * filters);
    blocks = Cut(divide_up(filters, cpu::kWinogradFilters), sums_cost_more(tiles, parts) ? parts : 1);
    slices = Cut(tiles, divide_up(parts, blocks.parts()));
  }
  /// Floats of one slice's sums.
  int64_t sums_size() const { return all_blocks() * cpu::weight_sums_size(channels); }
  int64_t all_blocks() const { return divide_up(filters, cpu::kWinogradFilters); }
  /// The tiles of a region that are in a slice.
  Range tiles_of(const TileRegion& region, int64_t slice) const {
    const int64_t tiles = region.tiles(images), parts = slices.parts();
    return {tiles * slice / parts, tiles * (slice + 1) / parts};
  }

 private:
  /// Whether sums of slices cost more to add than images to transform again for each part of the filters: 36
  /// sums of a channel and a filter take about as long as the transforms of two tiles of 16 channels.
  bool sums_cost_more(int64_t tiles, int64_t parts) const { return 2 * tiles < parts * filters; }
};

struct Operands {
  cpu::WinogradImages images;
  cpu::WinogradGradients gradients;
};

/// sums[slice][block][product][channel][filter]
void add_tiles(const Call& call, const Plan& plan, const Operands& operands, float* sums) {
  const int64_t most = cpu::winograd_tiles(plan.channels), block_size = cpu::weight_sums_size(plan.channels);
  const int64_t scratch_size = cpu::winograd_weights_scratch(plan.channels, most);
  const Cut items(plan.slices.parts() * plan.blocks.parts(), num_threads());
  float* scratch = call.workspace<float>(items.parts() * scratch_size);
  parallel_for_parts(items, [&](int64_t part, Range range) {
    for (int64_t i = range.begin; i < range.end; ++i) {
      const int64_t slice = i / plan.blocks.parts();
      const Range blocks = plan.blocks[i % plan.blocks.parts()];
      float* own = sums + slice * plan.sums_size() + blocks.begin * block_size;
      std::fill_n(own, blocks.size() * block_size, 0.0f);
      for (const TileRegion& region : plan.regions) {
        const Range tiles = plan.tiles_of(region, slice);
        const Cut batches(tiles.size(), divide_up(tiles.size(), most));
        for (int64_t batch = 0; batch < batches.parts(); ++batch)
          cpu::winograd_add_weights(
              region.of(operands.images), region.of(operands.gradients),
              {region.narrow_rows, region.narrow_columns, tiles.begin + batches[batch].begin,
               tiles.begin + batches[batch].end, tiles.end, blocks.begin, blocks.end, own,
               scratch + part * scratch_size});
      }
    }
  });
}

/// Adds the slices, and makes taps of the sums.
void finish(const Plan& plan, const float* sums, float* dw) {
  const Cut channels(plan.channels, plan.channels, cpu::kLineFloats);
  const int64_t items = plan.all_blocks() * channels.parts();
  const Nanoseconds each =
      copies(plan.slices.parts() * cpu::kWinogradProducts * cpu::kLineFloats * cpu::kWinogradFilters);
  parallel_for(items, each, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t block = i / channels.parts(), first = block * cpu::kWinogradFilters;
      const Range own = channels[i % channels.parts()];
      cpu::winograd_make_weights(
          {dw + first * plan.channels * 9, plan.channels,
           std::min(cpu::kWinogradFilters, plan.filters - first),
           sums + block * cpu::weight_sums_size(plan.channels), plan.slices.parts(), plan.sums_size()},
          own.begin, own.end);
    }
  });
}

void run(const Call& call) {
  const Conv2dGeometry g = geometry_of(call);
  const Plan plan(g);
  const Operands operands{winograd_images(call, call.input(0), g.padding, plan.rows, plan.columns),
                          winograd_images(call, call.input(1), 0, plan.rows, plan.columns)};
  float* sums = call.workspace<float>(plan.slices.parts() * plan.sums_size());
  add_tiles(call, plan, operands, sums);
  finish(plan, sums, call.output().as<float>());
}

/// Products of the tap that has the fewest.
int64_t fewest_products(const Conv2dGeometry& g) {
  int64_t rows = g.P, columns = g.Q;
  for (int64_t tap = 0; tap < 3; ++tap) {
    const WindowRange down = g.rows_inside(tap), across = g.columns_inside(tap);
    rows = std::min(rows, std::max<int64_t>(down.end - down.begin, 0));
    columns = std::min(columns, std::max<int64_t>(across.end - across.begin, 0));
  }
  return g.N * rows * columns;
}

/// A tap that few products meet would get what others' products leave of their roundings.
bool takes(const Call& call) {
  constexpr int64_t kFewestProducts = 32;
  return takes_winograd(call.options<Conv2dWeightGradientOptions>(), call.input(0), call.output(),
                        call.input(1)) &&
         fewest_products(geometry_of(call)) >= kFewestProducts;
}

/// With pixels and gradients of size 1, a tap gets 16 products of a tile. Here it is one of 6·6 products;
/// along one axis their sizes, times the power of the point, are at most 25 together, for the last tap, hence
/// 25² in two. Roundings are no more than those of the direct sum: one for each tile, and about thirty for
/// the transforms.
constexpr double kGrowth = 25.0 * 25 / 16;

}  // namespace

namespace ops {

void register_conv2d_cpu_winograd_weight_gradient(Registry& registry) {
  add_variant(registry, "conv2d_weight_gradient",
              {.name = "winograd",
               .device = DeviceKind::cpu,
               .run = run,
               .when = takes,
               .preference = kWinogradPreference,
               .error_growth = kGrowth});
}

}  // namespace ops
}  // namespace treadle
