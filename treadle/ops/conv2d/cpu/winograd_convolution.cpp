#include "treadle/ops/conv2d/cpu/winograd_convolution.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "treadle/ops/conv2d/cpu/winograd_convolution.cpp"
#include "treadle/simd/targets.h"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "treadle/ops/conv2d/cpu/winograd_points-inl.h"
#include "treadle/simd/transpose-inl.h"

HWY_BEFORE_NAMESPACE();
namespace treadle::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr int64_t kPlaces = kWinogradResults * kWinogradResults;
static_assert(FourResults::kResults == kWinogradResults &&
              FourResults::kSide * FourResults::kSide == kWinogradProducts);

/// Part of a tile's results that lies inside the image, and where its first one goes.
struct ResultTile {
  float* y;
  int64_t rows, columns;

  ResultTile(const TilePlace& place, const WinogradResults& results, int64_t filter) {
    const int64_t p = place.row * kWinogradResults, q = place.column * kWinogradResults;
    y = results.y + place.image * results.image_step + filter * results.filter_step + p * results.row_step +
        q * results.column_step;
    rows = HWY_MIN(kWinogradResults, results.height - p),
    columns = HWY_MIN(kWinogradResults, results.width - q);
  }
};

/// Bias and ReLU, which keeps NaN.
HWY_INLINE Vector finished(Vector sum, Vector bias, bool relu) {
  const Vector value = hn::Add(sum, bias);
  return relu ? hn::IfThenZeroElse(hn::Le(value, hn::Zero(Floats())), value) : value;
}

/// The results of `kLanes` filters, finished, by store(row, column, results).
template <class Down, class Across, class Store>
HWY_INLINE void make_finished_results(const float* HWY_RESTRICT products, int64_t step,
                                      const float* HWY_RESTRICT bias, bool relu, Store store) {
  const Vector added = hn::Load(Floats(), bias);
  make_results<Down, Across>(
      products, step, [&](int i, int j, Vector sum) HWY_ATTR { store(i, j, finished(sum, added, relu)); });
}

/// Copies [place][filter] of a tile to where it goes.
HWY_INLINE void copy_results(const float* HWY_RESTRICT from, int64_t filters, const ResultTile& tile,
                             const WinogradResults& results) {
  for (int64_t i = 0; i < tile.rows; ++i) {
    const float* row = from + i * kWinogradResults * kWinogradFilters;
    float* y = tile.y + i * results.row_step;
    if (results.filter_step == 1) {
      for (int64_t j = 0; j < tile.columns; ++j)
        std::copy_n(row + j * kWinogradFilters, filters, y + j * results.column_step);
    } else if (results.column_step == 1) {
      transpose_squares<float, kTransposedFloats>(row, kWinogradFilters, tile.columns, filters, y,
                                                  results.filter_step);
    } else {
      for (int64_t j = 0; j < tile.columns; ++j)
        for (int64_t k = 0; k < filters; ++k)
          y[j * results.column_step + k * results.filter_step] = row[j * kWinogradFilters + k];
    }
  }
}

/// One tile's results of a filter block, of which `filters` exist.
template <class Down, class Across>
HWY_INLINE void finish_tile(const float* products, int64_t step, const float* bias, int64_t filters,
                            const ResultTile& tile, const WinogradResults& results) {
  const Floats d;
  if (results.filter_step == 1 && filters % kLanes == 0) {
    const bool whole = tile.rows >= Down::kResults && tile.columns >= Across::kResults;
    for (int64_t k = 0; k < filters; k += kLanes) {
      float* const y = tile.y + k;
      auto store = [&](int i, int j, Vector value)
                       HWY_ATTR { hn::StoreU(value, d, y + i * results.row_step + j * results.column_step); };
      if (whole)
        make_finished_results<Down, Across>(products + k, step, bias + k, results.relu, store);
      else
        make_finished_results<Down, Across>(products + k, step, bias + k, results.relu,
                                            [&](int i, int j, Vector value) HWY_ATTR {
                                              if (i < tile.rows && j < tile.columns) store(i, j, value);
                                            });
    }
    return;
  }
  HWY_ALIGN float places[kPlaces * kWinogradFilters];
  for (int64_t k = 0; k < filters; k += kLanes)
    make_finished_results<Down, Across>(
        products + k, step, bias + k, results.relu, [&](int i, int j, Vector value) HWY_ATTR {
          hn::Store(value, d, places + (i * kWinogradResults + j) * kWinogradFilters + k);
        });
  copy_results(places, filters, tile, results);
}

void transform_filters(const WinogradFilters& filters, int64_t block, const float* bias, int64_t bias_step,
                       float* transformed) {
  transform_filter_block<FourResults>(filters, block, bias, bias_step, transformed);
}

/// The places of results, with all tiles of the images.
HWY_INLINE WinogradImages places_of(const WinogradResults& results, const WinogradImages& images,
                                    int64_t filter) {
  WinogradImages places = images;
  places.x = results.y + filter * results.filter_step;
  places.height = results.height, places.width = results.width;
  places.image_step = results.image_step, places.row_step = results.row_step,
  places.column_step = results.column_step;
  places.top = places.left = 0;
  return places;
}

template <class Down, class Across>
void run_tiles(const WinogradImages& images, const WinogradConvolutionTask& task,
               const WinogradResults& results) {
  constexpr uint64_t kProducts = products_of<Down, Across>();
  const int64_t tiles = task.tile_end - task.tile_begin, channels = images.channels;
  const TileGroups places(kWinogradProducts, channels, tiles),
      product_places(kWinogradProducts, kWinogradFilters, tiles);
  float* const transformed = task.scratch;
  float* const products = task.scratch + places.size();
  transform_images<Down, Across>(images, task.tile_begin, task.tile_end, transformed);
  const int64_t next_end = HWY_MIN(task.tile_end + tiles, task.all_tiles);
  for_each_block(
      task, kWinogradProducts, channels,
      [&](int64_t block, const float* filters, const float* bias, int64_t first, int64_t count) HWY_ATTR {
        // Fetched meanwhile: where results go, and the pixels of the tiles behind.
        const WinogradImages to = places_of(results, images, first);
        const int64_t to_end = results.filter_step == 1 ? task.tile_end : task.tile_begin;
        const int64_t pixels_end = block + 1 == task.block_end ? next_end : task.tile_end;
        const int64_t calls = multiply_calls(places, count, kProducts);
        Spread to_results(TileFetch<kWinogradResults>(to, task.tile_begin, to_end, count), calls);
        Spread pixels(TileFetch<kWinogradResults>(images, task.tile_end, pixels_end, channels), calls);
        multiply_block(places, kProducts, channels, count, transformed, filters, products, [&]() HWY_ATTR {
          to_results();
          pixels();
        });
        TilePlace place(images, task.tile_begin);
        for (int64_t i = 0; i < tiles; ++i, place.advance(images))
          finish_tile<Down, Across>(products + product_places.offset(i), product_places.step(), bias, count,
                                    ResultTile(place, results, first), results);
      });
}

void run_task(const WinogradImages& images, const WinogradConvolutionTask& task,
              const WinogradResults& results) {
  with_tile(task, [&](auto down, auto across)
                      HWY_ATTR { run_tiles<decltype(down), decltype(across)>(images, task, results); });
}

}  // namespace treadle::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace treadle::cpu {
namespace {

HWY_EXPORT(transform_filters);
HWY_EXPORT(run_task);

}  // namespace

void winograd_filters(const WinogradFilters& filters, int64_t block, const float* bias, int64_t bias_step,
                      float* transformed) {
  HWY_DYNAMIC_DISPATCH(transform_filters)(filters, block, bias, bias_step, transformed);
}

int64_t winograd_tiles(int64_t channels) {
  constexpr int64_t kImageBytes = 256 * 1024, kMost = 48;
  return tiles_at_once(kWinogradProducts, channels, kImageBytes, kMost);
}

int64_t winograd_scratch(int64_t channels, int64_t tiles) {
  return TileGroups(kWinogradProducts, channels, tiles).size() +
         TileGroups(kWinogradProducts, kWinogradFilters, tiles).size();
}

void winograd_convolution(const WinogradImages& images, const WinogradConvolutionTask& task,
                          const WinogradResults& results) {
  HWY_DYNAMIC_DISPATCH(run_task)(images, task, results);
}

}  // namespace treadle::cpu
#endif
