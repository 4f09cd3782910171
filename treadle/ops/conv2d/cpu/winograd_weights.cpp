#include "treadle/ops/conv2d/cpu/winograd_weights.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "treadle/ops/conv2d/cpu/winograd_weights.cpp"
#include "treadle/simd/targets.h"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "treadle/ops/conv2d/cpu/winograd_points-inl.h"
#include "treadle/simd/transpose-inl.h"

HWY_BEFORE_NAMESPACE();
namespace treadle::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class Tile>
struct GradientAxis : Tile {
  static constexpr int kIn = Tile::kGradients, kOut = Tile::kSide;
  HWY_INLINE static void apply(const Vector* in, Vector* out) { Tile::gradient(in, out); }
};

struct TapsAxis : AllPlaces<ThreeTaps::kTaps> {
  static constexpr int kIn = ThreeTaps::kSide, kOut = ThreeTaps::kTaps;
  HWY_INLINE static void apply(const Vector* in, Vector* out) { ThreeTaps::taps(in, out); }
};

/// Tiles [begin, end) of dy, transformed, of `filters` filters from `first` on.
template <class Down, class Across>
void transform_gradients(const WinogradGradients& gradients, int64_t begin, int64_t end, int64_t first,
                         int64_t filters, float* HWY_RESTRICT out) {
  WinogradGradients block = gradients;
  block.x += first;
  const TileGroups groups(kWinogradProducts, kWinogradFilters, end - begin);
  TilePlace place(block, begin);
  for (int64_t tile = begin; tile < end; ++tile, place.advance(block))
    transform_pixels<GradientAxis<Down>, GradientAxis<Across>>(
        TilePixels<Down::kGradients, Across::kGradients, kWinogradResults>(block, place).pixels, filters,
        out + groups.offset(tile - begin), groups.step());
}

/// One product of some tiles: images [channel] and gradients [filter] of a block.
struct ProductTiles {
  const float *images, *gradients;
  TileGroups image_places, gradient_places;
};

/// One register tile: sums[row][:] += Σ_t image[t][row] · gradients[t][:].
template <int Rows>
void add_tile(const ProductTiles& of, float* HWY_RESTRICT sums) {
  const Floats d;
  const int64_t image_step = of.image_places.channels, all = of.image_places.tiles;
  Vector added[Rows][2];
#pragma GCC unroll 16
  for (int i = 0; i < Rows; ++i) {
    added[i][0] = hn::Load(d, sums + i * kWinogradFilters);
    added[i][1] = hn::Load(d, sums + i * kWinogradFilters + kLanes);
  }
  for (int64_t begin = 0; begin < all; begin += of.image_places.group) {
    const float* HWY_RESTRICT image = of.images + of.image_places.offset(begin);
    const float* HWY_RESTRICT gradients = of.gradients + of.gradient_places.offset(begin);
    const int64_t tiles = HWY_MIN(of.image_places.group, all - begin);
    for (int64_t t = 0; t < tiles; ++t, image += image_step, gradients += kWinogradFilters) {
      const Vector g0 = hn::Load(d, gradients), g1 = hn::Load(d, gradients + kLanes);
#pragma GCC unroll 16
      for (int i = 0; i < Rows; ++i) {
        const Vector pixel = hn::Set(d, image[i]);
        added[i][0] = hn::MulAdd(pixel, g0, added[i][0]);
        added[i][1] = hn::MulAdd(pixel, g1, added[i][1]);
      }
    }
  }
#pragma GCC unroll 16
  for (int i = 0; i < Rows; ++i) {
    hn::Store(added[i][0], d, sums + i * kWinogradFilters);
    hn::Store(added[i][1], d, sums + i * kWinogradFilters + kLanes);
  }
}

template <int Rows = kTileRows>
HWY_INLINE void add_rows(int64_t rows, const ProductTiles& of, float* sums) {
  if (rows == Rows) return add_tile<Rows>(of, sums);
  if constexpr (Rows > 1) add_rows<Rows - 1>(rows, of, sums);
}

HWY_INLINE int64_t add_calls(int64_t channels, int64_t filters, uint64_t products) {
  return __builtin_popcountll(products) * ((filters + kTileColumns - 1) / kTileColumns) *
         ((channels + kTileRows - 1) / kTileRows);
}

/// Products of one filter block, those with a bit in `wanted`: sums[product][channel][filter] += …; calls
/// between() before each of add_calls().
template <class Between>
HWY_INLINE void add_block(uint64_t wanted, int64_t channels, int64_t filters, int64_t tiles,
                          const float* images, const float* gradients, float* sums, Between between) {
  const TileGroups image_places(kWinogradProducts, channels, tiles),
      gradient_places(kWinogradProducts, kWinogradFilters, tiles);
  const int64_t parts = (channels + kTileRows - 1) / kTileRows;
  for (int64_t product = 0; product < kWinogradProducts; ++product) {
    if (!(wanted >> product & 1)) continue;
    for (int64_t k = 0; k < filters; k += kTileColumns)
      for (int64_t part = 0; part < parts; ++part) {
        between();
        const int64_t begin = channels * part / parts, end = channels * (part + 1) / parts;
        add_rows(end - begin,
                 {images + product * image_places.step() + begin,
                  gradients + product * gradient_places.step() + k, image_places, gradient_places},
                 sums + product * filter_product_step(channels) + begin * kWinogradFilters + k);
      }
  }
}

template <class Down, class Across>
void add_tiles(const WinogradImages& images, const WinogradGradients& gradients,
               const WinogradWeightsTask& task) {
  constexpr uint64_t kProducts = products_of<Down, Across>();
  const int64_t tiles = task.tile_end - task.tile_begin, channels = images.channels;
  float* const transformed = task.scratch;
  float* const block_gradients = task.scratch + TileGroups(kWinogradProducts, channels, tiles).size();
  transform_images<Down, Across>(images, task.tile_begin, task.tile_end, transformed);
  for (int64_t block = task.block_begin; block < task.block_end; ++block) {
    const int64_t first = block * kWinogradFilters,
                  filters = HWY_MIN(kWinogradFilters, gradients.channels - first);
    transform_gradients<Down, Across>(gradients, task.tile_begin, task.tile_end, first, filters,
                                      block_gradients);
    // Fetched meanwhile: the gradients of the next block, or those and the pixels of the tiles behind.
    const bool last = block + 1 == task.block_end;
    const int64_t next_begin = last ? task.tile_end : task.tile_begin,
                  next_end = HWY_MIN(next_begin + tiles, task.all_tiles);
    const int64_t next_filter = last ? task.block_begin * kWinogradFilters : first + kWinogradFilters;
    WinogradGradients next = gradients;
    next.x += next_filter;
    const int64_t calls = add_calls(channels, filters, kProducts);
    Spread next_gradients(
        TileFetch<ThreeTaps::kGradients>(next, next_begin, next_end,
                                         HWY_MIN(kWinogradFilters, gradients.channels - next_filter)),
        calls);
    Spread pixels(
        TileFetch<ThreeTaps::kGradients>(images, next_begin, last ? next_end : next_begin, channels), calls);
    add_block(kProducts, channels, filters, tiles, transformed, block_gradients,
              task.sums + (block - task.block_begin) * weight_sums_size(channels), [&]() HWY_ATTR {
                next_gradients();
                pixels();
              });
  }
}

void add_weights(const WinogradImages& images, const WinogradGradients& gradients,
                 const WinogradWeightsTask& task) {
  with_tile<ThreeTaps>(task, [&](auto down, auto across) HWY_ATTR {
    add_tiles<decltype(down), decltype(across)>(images, gradients, task);
  });
}

/// The nine taps of one channel for `kLanes` filters, from the slices of its sums.
HWY_INLINE void make_taps(const WinogradWeights& weights, const float* HWY_RESTRICT sums,
                          float* HWY_RESTRICT taps) {
  const Floats d;
  const int64_t step = filter_product_step(weights.channels);
  transform_both_axes<TapsAxis, TapsAxis>(
      [&](int product) HWY_ATTR {
        Vector sum = hn::Load(d, sums + product * step);
        for (int64_t slice = 1; slice < weights.slices; ++slice)
          sum = hn::Add(sum, hn::Load(d, sums + slice * weights.slice_step + product * step));
        return sum;
      },
      taps, kWinogradFilters);
}

void make_weights(const WinogradWeights& weights, int64_t channel_begin, int64_t channel_end) {
  constexpr int64_t kChannels = 16, kFilterTaps = ThreeTaps::kTaps * ThreeTaps::kTaps;
  HWY_ALIGN float taps[kChannels * kFilterTaps * kWinogradFilters];
  for (int64_t c = channel_begin; c < channel_end; c += kChannels) {
    const int64_t channels = HWY_MIN(kChannels, channel_end - c);
    for (int64_t i = 0; i < channels; ++i)
      for (int64_t k = 0; k < weights.filters; k += kLanes)
        make_taps(weights, weights.sums + (c + i) * kWinogradFilters + k,
                  taps + i * kFilterTaps * kWinogradFilters + k);
    transpose_squares<float, kTransposedFloats>(taps, kWinogradFilters, channels * kFilterTaps,
                                                weights.filters, weights.dw + c * kFilterTaps,
                                                weights.channels * kFilterTaps);
  }
}

}  // namespace treadle::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace treadle::cpu {
namespace {

HWY_EXPORT(add_weights);
HWY_EXPORT(make_weights);

}  // namespace

int64_t winograd_weights_scratch(int64_t channels, int64_t tiles) {
  return TileGroups(kWinogradProducts, channels, tiles).size() +
         TileGroups(kWinogradProducts, kWinogradFilters, tiles).size();
}

void winograd_add_weights(const WinogradImages& images, const WinogradGradients& gradients,
                          const WinogradWeightsTask& task) {
  HWY_DYNAMIC_DISPATCH(add_weights)(images, gradients, task);
}

void winograd_make_weights(const WinogradWeights& weights, int64_t channel_begin, int64_t channel_end) {
  HWY_DYNAMIC_DISPATCH(make_weights)(weights, channel_begin, channel_end);
}

}  // namespace treadle::cpu
#endif
