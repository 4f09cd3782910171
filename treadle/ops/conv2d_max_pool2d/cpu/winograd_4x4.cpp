/// conv2d_max_pool2d on the cpu device by Winograd's F(4×4, 3×3), f32: 3×3 windows of stride 1, pooled 2×2. A
/// tile holds four pooling windows; in the last row and column of tiles, where only one of two fits, tiles
/// are narrow: 5×5 windows take 256 products per channel and filter instead of the 400 of F(2×2, 3×3).
#include "treadle/graph/variant.h"
#include "treadle/ops/conv2d/cpu/winograd_calls.h"
#include "treadle/ops/conv2d/cpu/winograd_tasks.h"
#include "treadle/ops/conv2d_max_pool2d/cpu/tasks.h"
#include "treadle/ops/conv2d_max_pool2d/cpu/winograd_4x4_max_pool.h"

namespace treadle {
namespace {

using Geometry = Conv2dMaxPool2dGeometry;

cpu::WindowPlaces places_of(const TileRegion& region, const Geometry& g) {
  constexpr int64_t kWindows = cpu::kWinogradResults / 2;
  return {g.pool.P, g.pool.Q, region.row * kWindows, region.column * kWindows};
}

/// Few tiles, of any shape: threads share the filters.
void run_mixed(const Call& call, const Geometry& g, const cpu::WinogradImages& images,
               const float* transformed, const cpu::PooledOutput& output) {
  const int64_t channels = g.conv.C, tiles = g.conv.N * images.rows * images.columns;
  cpu::WinogradTilePart parts[4] = {};
  for (cpu::WinogradTilePart& part : parts) part.images = images;
  const TileRegions regions(g.conv.N, 2 * g.pool.P, 2 * g.pool.Q, 1);
  for (const TileRegion& region : regions) {
    const int place = region.narrow_rows ? 2 + int(region.narrow_columns) : 1 - int(region.narrow_columns);
    parts[place] = {region.narrow_rows, region.narrow_columns, region.tiles(g.conv.N), region.of(images),
                    places_of(region, g)};
  }
  const int64_t blocks = divide_up(g.conv.K, cpu::kWinogradFilters);
  const Cut slices(blocks, parts_of(regions.products(g.conv.N) * channels * g.conv.K));
  const int64_t scratch_size = cpu::winograd_scratch(channels, tiles);
  float* scratch = call.workspace<float>(slices.parts() * scratch_size);
  parallel_for_parts(slices, [&](int64_t part, Range range) {
    cpu::winograd_mixed_max_pool(parts,
                                 {false, false, 0, tiles, tiles, range.begin, range.end, g.conv.K,
                                  transformed, scratch + part * scratch_size},
                                 output);
  });
}

/// Threads share the tiles of a region of all images, and the filters where tiles are few.
void run_winograd_4x4(const Call& call) {
  const Geometry g = geometry_of(call);
  const int64_t P = 2 * g.pool.P, Q = 2 * g.pool.Q, channels = g.conv.C, filters = g.conv.K;
  const cpu::WinogradImages images =
      winograd_images(call, call.input(0), g.conv.padding, winograd_tiles_along(P), winograd_tiles_along(Q));
  const float* transformed = winograd_forward_filters(call);
  const cpu::PooledOutput output = output_of(call, g);
  if (g.conv.N * images.rows * images.columns <= cpu::TileGroups::kMost)
    return run_mixed(call, g, images, transformed, output);
  RegionTasks(g.conv.N, P, Q, channels, filters)
      .run(call, transformed, [&](const TileRegion& region, const cpu::WinogradConvolutionTask& task) {
        cpu::winograd_4x4_max_pool(region.of(images), task, places_of(region, g), output);
      });
}

bool takes_winograd_4x4(const Call& call) {
  const auto& o = call.options<Conv2dMaxPool2dOptions>();
  return has_plain_output(call) && call.input(0).numel() > 0 && suits_winograd(o, call.input(1)) &&
         pools_2x2(o);
}

}  // namespace

namespace ops {

void register_conv2d_max_pool2d_cpu_winograd_4x4(Registry& registry) {
  add_variant(registry, "conv2d_max_pool2d",
              {.name = "winograd_4x4",
               .device = DeviceKind::cpu,
               .run = run_winograd_4x4,
               .when = takes_winograd_4x4,
               .preference = kWinogradPreference,
               .error_growth = kWinogradGrowth4x4});
}

}  // namespace ops
}  // namespace treadle
