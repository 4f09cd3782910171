#include "treadle/ops/conv2d_max_pool2d/cpu/winograd_4x4_max_pool.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "treadle/ops/conv2d_max_pool2d/cpu/winograd_4x4_max_pool.cpp"
#include "treadle/simd/targets.h"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "treadle/ops/conv2d/cpu/winograd_points-inl.h"
#include "treadle/ops/conv2d_max_pool2d/cpu/pooled_output-inl.h"

HWY_BEFORE_NAMESPACE();
namespace treadle::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Pools the windows of a tile for `kLanes` filters, by store(row of windows, column of windows, values of
/// the window).
template <class Down, class Across, class Store>
HWY_INLINE void make_windows(const float* HWY_RESTRICT products, int64_t step, Store store) {
  Vector windows[Down::kResults / 2][Across::kResults / 2][4];
  make_results<Down, Across>(products, step, [&](int i, int j, Vector value) HWY_ATTR {
    windows[i / 2][j / 2][i % 2 * 2 + j % 2] = value;
  });
#pragma GCC unroll 2
  for (int i = 0; i < Down::kResults / 2; ++i)
#pragma GCC unroll 2
    for (int j = 0; j < Across::kResults / 2; ++j) store(i, j, windows[i][j]);
}

/// One tile's windows for a block's filters, of which `filters` exist; `rows` × `columns` of them lie inside
/// the image, the first one at `window`.
struct TileWindows {
  const PooledOutput& output;
  int64_t window, in_row, rows, columns, first_filter, filters;

  int64_t at(int64_t i, int64_t j) const { return output.at(window + i * in_row + j, first_filter); }
};

/// To a block in memory, then filter by filter to where they go.
template <class Down, class Across>
HWY_INLINE void scatter_windows(const float* products, int64_t step, const float* bias,
                                const TileWindows& to) {
  constexpr int kAcross = Across::kResults / 2, kWindows = Down::kResults / 2 * kAcross;
  HWY_ALIGN float y[kWindows * kWinogradFilters];
  HWY_ALIGN uint8_t choice[kWindows * kWinogradFilters];
  const PooledOutput& output = to.output;
  for (int64_t k = 0; k < to.filters; k += kLanes)
    make_windows<Down, Across>(products + k, step, [&](int i, int j, const Vector* values) HWY_ATTR {
      const int64_t place = (i * kAcross + j) * kWinogradFilters + k;
      store_largest_of_four(Floats(), values, hn::Load(Floats(), bias + k), output.relu, y + place,
                            output.choice ? choice + place : nullptr);
    });
  for (int64_t i = 0; i < to.rows; ++i) {
    const int64_t offset = to.at(i, 0), step_of_windows = output.window_step;
    const float* from = y + i * kAcross * kWinogradFilters;
    const uint8_t* chosen = choice + i * kAcross * kWinogradFilters;
    for (int64_t k = 0; k < to.filters; ++k)
      for (int64_t j = 0; j < to.columns; ++j)
        output.y[offset + k * output.filter_step + j * step_of_windows] = from[j * kWinogradFilters + k];
    if (!output.choice) continue;
    for (int64_t k = 0; k < to.filters; ++k)
      for (int64_t j = 0; j < to.columns; ++j)
        output.choice[offset + k * output.filter_step + j * step_of_windows] =
            chosen[j * kWinogradFilters + k];
  }
}

template <class Down, class Across>
HWY_INLINE void pool_tile_windows(const float* products, int64_t step, const float* bias,
                                  const TileWindows& to) {
  const PooledOutput& output = to.output;
  if (output.filter_step != 1 || to.filters % kLanes != 0)
    return scatter_windows<Down, Across>(products, step, bias, to);
  for (int64_t k = 0; k < to.filters; k += kLanes)
    make_windows<Down, Across>(products + k, step, [&](int i, int j, const Vector* values) HWY_ATTR {
      if (i >= to.rows || j >= to.columns) return;
      const int64_t place = to.at(i, j) + k;
      store_largest_of_four(Floats(), values, hn::Load(Floats(), bias + k), output.relu, output.y + place,
                            moved(output.choice, place));
    });
}

template <class Down, class Across>
void pool_tiles(const WinogradImages& images, const WinogradConvolutionTask& task,
                const WindowPlaces& windows, const PooledOutput& output) {
  constexpr int64_t kDown = kWinogradResults / 2, kAcross = kWinogradResults / 2;
  const int64_t tiles = task.tile_end - task.tile_begin, channels = images.channels;
  const TileGroups places(kWinogradProducts, channels, tiles),
      product_places(kWinogradProducts, kWinogradFilters, tiles);
  float* const transformed = task.scratch;
  float* const products = task.scratch + places.size();
  transform_images<Down, Across>(images, task.tile_begin, task.tile_end, transformed);
  for (int64_t block = task.block_begin; block < task.block_end; ++block) {
    const float* filters = task.transformed + block * filter_block_size(kWinogradProducts, channels);
    const float* bias = filters + kWinogradProducts * filter_product_step(channels);
    const int64_t first = block * kWinogradFilters, count = HWY_MIN(kWinogradFilters, task.filters - first);
    multiply_block(places, products_of<Down, Across>(), channels, count, transformed, filters, products,
                   [] {});
    TilePlace place(images, task.tile_begin);
    for (int64_t i = 0; i < tiles; ++i, place.advance(images)) {
      const int64_t row = windows.row + place.row * kDown, column = windows.column + place.column * kAcross;
      pool_tile_windows<Down, Across>(
          products + product_places.offset(i), product_places.step(), bias,
          {output, place.image * output.windows + row * windows.columns + column, windows.columns,
           HWY_MIN(int64_t(Down::kResults / 2), windows.rows - row),
           HWY_MIN(int64_t(Across::kResults / 2), windows.columns - column), first, count});
    }
  }
}

void run_task(const WinogradImages& images, const WinogradConvolutionTask& task, const WindowPlaces& windows,
              const PooledOutput& output) {
  with_tile(task, [&](auto down, auto across) HWY_ATTR {
    pool_tiles<decltype(down), decltype(across)>(images, task, windows, output);
  });
}

}  // namespace treadle::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace treadle::cpu {
namespace {

HWY_EXPORT(run_task);

}  // namespace

void winograd_4x4_max_pool(const WinogradImages& images, const WinogradConvolutionTask& task,
                           const WindowPlaces& windows, const PooledOutput& output) {
  HWY_DYNAMIC_DISPATCH(run_task)(images, task, windows, output);
}

}  // namespace treadle::cpu
#endif
