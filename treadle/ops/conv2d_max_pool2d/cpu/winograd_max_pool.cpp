// A tile of 4×4 or, for 5×5 filters, 6×6 pixels holds the 2×2 results of one pooling window.
#include "treadle/ops/conv2d_max_pool2d/cpu/winograd_max_pool.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "treadle/ops/conv2d_max_pool2d/cpu/winograd_max_pool.cpp"
#include "treadle/simd/targets.h"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "treadle/ops/conv2d/cpu/winograd_points-inl.h"
#include "treadle/ops/conv2d_max_pool2d/cpu/pooled_output-inl.h"

#ifndef TREADLE_CPU_WINOGRAD_MAX_POOL_ONCE
#define TREADLE_CPU_WINOGRAD_MAX_POOL_ONCE
namespace treadle::cpu {

constexpr int64_t products_of_window(int64_t taps) { return (taps + 1) * (taps + 1); }

/// A thread's memory, of `windows` windows.
struct WinogradScratch {
  float* image;    ///< transformed tiles
  float* results;  ///< their products with the block's filters
  float* y;        ///< [window][filter of the block]
  uint8_t* choice;

  WinogradScratch(void* memory, int64_t products, int64_t channels, int64_t windows)
      : image(static_cast<float*>(memory)) {
    results = image + TileGroups(products, channels, windows).size();
    y = results + TileGroups(products, kWinogradFilters, windows).size();
    choice = reinterpret_cast<uint8_t*>(y + windows * kWinogradFilters);
  }
};

}  // namespace treadle::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace treadle::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// F(2×2, 3×3) along one axis: four pixels and three taps make two results.
struct TwoResults : AllPlaces<4> {
  static constexpr int kTaps = 3, kResults = 2;

  /// Rows of G: 1 0 0, ½ ½ ½, ½ −½ ½, 0 0 1.
  HWY_INLINE static void filter(const Vector* g, Vector* out) {
    const Vector half = hn::Set(Floats(), 0.5f), sum = hn::Add(g[0], g[2]);
    out[0] = g[0];
    out[1] = hn::Mul(half, hn::Add(sum, g[1]));
    out[2] = hn::Mul(half, hn::Sub(sum, g[1]));
    out[3] = g[2];
  }
  /// Rows of Bᵀ: 1 0 −1 0, 0 1 1 0, 0 −1 1 0, 0 1 0 −1.
  HWY_INLINE static void image(const Vector* d, Vector* out) {
    out[0] = hn::Sub(d[0], d[2]);
    out[1] = hn::Add(d[1], d[2]);
    out[2] = hn::Sub(d[2], d[1]);
    out[3] = hn::Sub(d[1], d[3]);
  }
  /// Rows of Aᵀ: 1 1 1 0, 0 1 −1 −1.
  HWY_INLINE static void result(const Vector* m, Vector* out) {
    out[0] = hn::Add(hn::Add(m[0], m[1]), m[2]);
    out[1] = hn::Sub(hn::Sub(m[1], m[2]), m[3]);
  }
};

/// The window's largest result for some filters, from products at distances of `step`.
template <class Tile>
HWY_INLINE void pool_tile(const float* HWY_RESTRICT results, int64_t step, const float* HWY_RESTRICT bias,
                          bool relu, float* HWY_RESTRICT y, uint8_t* HWY_RESTRICT choice) {
  const Floats d;
  Vector window[4];
  make_results<Tile, Tile>(results, step,
                           [&](int i, int j, Vector value) HWY_ATTR { window[2 * i + j] = value; });
  store_largest_of_four(d, window, hn::Load(d, bias), relu, y, choice);
}

template <class Tile>
void pool_block(const PooledOutput& output, const float* results, const float* bias, int64_t windows,
                PooledBlock<kWinogradFilters> block) {
  block.place_in_output();
  const TileGroups places(Tile::kSide * Tile::kSide, kWinogradFilters, windows);
  for (int64_t i = 0; i < windows; ++i)
    for (int64_t k = 0; k < block.filters; k += kLanes)
      pool_tile<Tile>(results + places.offset(i) + k, places.step(), bias + k, output.relu,
                      block.y + i * block.step + k, moved(block.choice, i * block.step + k));
  block.copy_out(windows);
}

template <class Tile>
void pool_windows(const WinogradImages& images, const WinogradTask& task, const PooledOutput& output) {
  constexpr int64_t kProducts = Tile::kSide * Tile::kSide;
  const int64_t windows = task.window_end - task.window_begin;
  const WinogradScratch scratch(task.scratch, kProducts, images.channels, windows);
  transform_images<Tile, Tile>(images, task.window_begin, task.window_end, scratch.image);
  for_each_block(
      task, kProducts, images.channels,
      [&](int64_t, const float* transformed, const float* bias, int64_t first, int64_t filters) HWY_ATTR {
        multiply_block(TileGroups(kProducts, images.channels, windows), products_of<Tile, Tile>(),
                       images.channels, filters, scratch.image, transformed, scratch.results, [] {});
        pool_block<Tile>(output, scratch.results, bias, windows,
                         {output, task.window_begin, first, filters, scratch.y, scratch.choice});
      });
}

void transform_filters_of_windows(int64_t taps, const WinogradFilters& filters, int64_t block,
                                  const float* bias, int64_t bias_step, float* transformed) {
  if (taps == TwoResults::kTaps)
    transform_filter_block<TwoResults>(filters, block, bias, bias_step, transformed);
  else
    transform_filter_block<TwoResultsOfFiveTaps>(filters, block, bias, bias_step, transformed);
}

void run_task(const WinogradImages& images, const WinogradTask& task, const PooledOutput& output) {
  if (task.taps == TwoResults::kTaps)
    pool_windows<TwoResults>(images, task, output);
  else
    pool_windows<TwoResultsOfFiveTaps>(images, task, output);
}

}  // namespace treadle::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace treadle::cpu {
namespace {

HWY_EXPORT(transform_filters_of_windows);
HWY_EXPORT(run_task);

}  // namespace

int64_t winograd_block_size(int64_t taps, int64_t channels) {
  return filter_block_size(products_of_window(taps), channels);
}

void winograd_transform_filters(int64_t taps, const WinogradFilters& filters, int64_t block,
                                const float* bias, int64_t bias_step, float* transformed) {
  HWY_DYNAMIC_DISPATCH(transform_filters_of_windows)(taps, filters, block, bias, bias_step, transformed);
}

int64_t winograd_windows(int64_t taps, int64_t channels) {
  constexpr int64_t kImageBytes = 192 * 1024, kMost = 96;
  return tiles_at_once(products_of_window(taps), channels, kImageBytes, kMost);
}

int64_t winograd_scratch_size(int64_t taps, int64_t channels, int64_t windows) {
  const int64_t products = products_of_window(taps);
  const int64_t floats = TileGroups(products, channels, windows).size() +
                         TileGroups(products, kWinogradFilters, windows).size() + windows * kWinogradFilters;
  return floats * int64_t(sizeof(float)) + windows * kWinogradFilters;
}

void winograd_max_pool(const WinogradImages& images, const WinogradTask& task, const PooledOutput& output) {
  HWY_DYNAMIC_DISPATCH(run_task)(images, task, output);
}

}  // namespace treadle::cpu
#endif
