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

/// The windows of `tiles` tiles from number `first` of a group on.
template <class Down, class Across>
HWY_INLINE void pool_tiles_of(const WinogradImages& images, int64_t first_tile, int64_t tiles,
                              const WindowPlaces& windows, const float* products, const TileGroups& places,
                              int64_t first, const float* bias, int64_t first_filter, int64_t filters,
                              const PooledOutput& output) {
  constexpr int64_t kAlong = kWinogradResults / 2;
  TilePlace place(images, first_tile);
  for (int64_t i = 0; i < tiles; ++i, place.advance(images)) {
    const int64_t row = windows.row + place.row * kAlong, column = windows.column + place.column * kAlong;
    pool_tile_windows<Down, Across>(
        products + places.offset(first + i), places.step(), bias,
        {output, place.image * output.windows + row * windows.columns + column, windows.columns,
         HWY_MIN(int64_t(Down::kResults / 2), windows.rows - row),
         HWY_MIN(int64_t(Across::kResults / 2), windows.columns - column), first_filter, filters});
  }
}

template <class Down, class Across>
void pool_tiles(const WinogradImages& images, const WinogradConvolutionTask& task,
                const WindowPlaces& windows, const PooledOutput& output) {
  const int64_t tiles = task.tile_end - task.tile_begin, channels = images.channels;
  const TileGroups places(kWinogradProducts, channels, tiles),
      product_places(kWinogradProducts, kWinogradFilters, tiles);
  float* const transformed = task.scratch;
  float* const products = task.scratch + places.size();
  transform_images<Down, Across>(images, task.tile_begin, task.tile_end, transformed);
  for_each_block(task, kWinogradProducts, channels,
                 [&](int64_t, const float* filters, const float* bias, int64_t first, int64_t count)
                     HWY_ATTR {
                       multiply_block(places, products_of<Down, Across>(), channels, count, transformed,
                                      filters, products, [] {});
                       pool_tiles_of<Down, Across>(images, task.tile_begin, tiles, windows, products,
                                                   product_places, 0, bias, first, count, output);
                     });
}

/// Which of a group's tiles have a product: by part its first tile, and the number of all.
struct MixedTiles {
  int64_t begin[5];

  explicit MixedTiles(const WinogradTilePart (&parts)[4]) : begin() {
    for (int i = 0; i < 4; ++i) begin[i + 1] = begin[i] + parts[i].tiles;
  }
  int64_t all() const { return begin[4]; }
  /// Tiles with narrow rows lack some rows of products, those with narrow columns some columns.
  HWY_INLINE void range(int64_t product, int64_t& first, int64_t& last) const {
    const bool row = is_narrow(product / FourResults::kSide),
               column = is_narrow(product % FourResults::kSide);
    first = column ? 0 : begin[1], last = row ? (column ? begin[4] : begin[3]) : begin[2];
  }

 private:
  static constexpr bool is_narrow(int64_t i) {
    for (int j = 0; j < NarrowTile::kSide; ++j)
      if (NarrowTile::place(j) == i) return true;
    return false;
  }
};

void run_mixed(const WinogradTilePart (&parts)[4], const WinogradConvolutionTask& task,
               const PooledOutput& output) {
  const MixedTiles tiles(parts);
  const int64_t channels = parts[0].images.channels;
  const TileGroups places(kWinogradProducts, channels, tiles.all()),
      product_places(kWinogradProducts, kWinogradFilters, tiles.all());
  float* const transformed = task.scratch;
  float* const products = task.scratch + places.size();
  for (int i = 0; i < 4; ++i)
    with_tile(parts[i], [&](auto down, auto across) HWY_ATTR {
      transform_tiles<decltype(down), decltype(across)>(parts[i].images, 0, parts[i].tiles, places,
                                                        tiles.begin[i], transformed);
    });
  for_each_block(
      task, kWinogradProducts, channels,
      [&](int64_t, const float* filters, const float* bias, int64_t first, int64_t count) HWY_ATTR {
        for (int64_t product = 0; product < kWinogradProducts; ++product) {
          int64_t begin, end;
          tiles.range(product, begin, end);
          if (begin == end) continue;
          for (int64_t k = 0; k < count; k += kTileColumns)
            multiply_group(end - begin, channels,
                           transformed + product * places.step() + places.offset(begin),
                           filters + product * filter_product_step(channels) + k * channels,
                           products + product * product_places.step() + product_places.offset(begin) + k);
        }
        for (int i = 0; i < 4; ++i)
          with_tile(parts[i], [&](auto down, auto across) HWY_ATTR {
            pool_tiles_of<decltype(down), decltype(across)>(parts[i].images, 0, parts[i].tiles,
                                                            parts[i].windows, products, product_places,
                                                            tiles.begin[i], bias, first, count, output);
          });
      });
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
HWY_EXPORT(run_mixed);

}  // namespace

void winograd_4x4_max_pool(const WinogradImages& images, const WinogradConvolutionTask& task,
                           const WindowPlaces& windows, const PooledOutput& output) {
  HWY_DYNAMIC_DISPATCH(run_task)(images, task, windows, output);
}

void winograd_mixed_max_pool(const WinogradTilePart (&parts)[4], const WinogradConvolutionTask& task,
                             const PooledOutput& output) {
  HWY_DYNAMIC_DISPATCH(run_mixed)(parts, task, output);
}

}  // namespace treadle::cpu
#endif
