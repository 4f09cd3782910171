// A tile of 4×4 pixels holds the 2×2 results of one pooling window: y = Aᵀ[(G g Gᵀ) ⊙ (Bᵀ d B)]A, summed over
// channels between the brackets, which makes 16 matrix products of [windows, channels] and [channels,
// filters]. Lavin and Gray, Fast Algorithms for Convolutional Neural Networks, 2016.
#include "treadle/ops/conv2d_max_pool2d/cpu/winograd_max_pool.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "treadle/ops/conv2d_max_pool2d/cpu/winograd_max_pool.cpp"
#include "treadle/simd/targets.h"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "treadle/ops/conv2d_max_pool2d/cpu/pooled_output-inl.h"

#ifndef TREADLE_CPU_WINOGRAD_MAX_POOL_ONCE
#define TREADLE_CPU_WINOGRAD_MAX_POOL_ONCE
namespace treadle::cpu {

constexpr int64_t kTaps = 9, kProducts = 16;
constexpr int64_t kLine = 16;  ///< floats of a cache line
constexpr int64_t kImageBytes = 192 * 1024;

constexpr int64_t padded_channels(int64_t channels) { return (channels + kLine - 1) / kLine * kLine; }

/// From one of the 16 products to the next. The line more keeps them from sharing cache sets.
constexpr int64_t image_product_step(int64_t channels, int64_t windows) {
  return windows * padded_channels(channels) + kLine;
}
constexpr int64_t filter_product_step(int64_t channels) { return channels * kWinogradFilters + kLine; }

/// A thread's memory, of `windows` windows.
struct WinogradScratch {
  float* image;    ///< [product][window][padded channel]
  float* results;  ///< [window][product][filter of the block]
  float* y;        ///< [window][filter of the block]
  uint8_t* choice;

  WinogradScratch(void* memory, int64_t channels, int64_t windows) : image(static_cast<float*>(memory)) {
    results = image + kProducts * image_product_step(channels, windows);
    y = results + windows * kProducts * kWinogradFilters;
    choice = reinterpret_cast<uint8_t*>(y + windows * kWinogradFilters);
  }
};

}  // namespace treadle::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace treadle::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::CappedTag<float, kWinogradFilters / 2>;
using Vector = hn::Vec<Floats>;
constexpr int64_t kLanes = int64_t(hn::MaxLanes(Floats()));
constexpr int64_t kTileColumns = 2 * kLanes;  ///< filters of a register tile
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL || HWY_TARGET == HWY_NEON
constexpr int64_t kTileRows = 12;  // 24 of 32 registers hold sums
#else
constexpr int64_t kTileRows = 6;  // 12 of 16
#endif
static_assert(kWinogradFilters % kTileColumns == 0);

/// Rows 0 to 3 of G: 1 0 0, ½ ½ ½, ½ −½ ½, 0 0 1.
HWY_INLINE void apply_g(Vector g0, Vector g1, Vector g2, Vector* out) {
  const Vector half = hn::Set(Floats(), 0.5f), sum = hn::Add(g0, g2);
  out[0] = g0;
  out[1] = hn::Mul(half, hn::Add(sum, g1));
  out[2] = hn::Mul(half, hn::Sub(sum, g1));
  out[3] = g2;
}

/// Rows 0 to 3 of Bᵀ: 1 0 −1 0, 0 1 1 0, 0 −1 1 0, 0 1 0 −1.
HWY_INLINE void apply_b(Vector d0, Vector d1, Vector d2, Vector d3, Vector* out) {
  out[0] = hn::Sub(d0, d2);
  out[1] = hn::Add(d1, d2);
  out[2] = hn::Sub(d2, d1);
  out[3] = hn::Sub(d1, d3);
}

/// One channel of `kLanes` filters; g[tap] are `kWinogradFilters` apart.
HWY_INLINE void transform_channel(const float* HWY_RESTRICT g, float* HWY_RESTRICT out, int64_t step) {
  const Floats d;
  Vector columns[3][4], rows[4];
#pragma GCC unroll 3
  for (int s = 0; s < 3; ++s)
    apply_g(hn::Load(d, g + s * kWinogradFilters), hn::Load(d, g + (3 + s) * kWinogradFilters),
            hn::Load(d, g + (6 + s) * kWinogradFilters), columns[s]);
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    apply_g(columns[0][i], columns[1][i], columns[2][i], rows);
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) hn::Store(rows[j], d, out + (i * 4 + j) * step);
  }
}

/// Copies a matrix [rows, columns] of unit column step to its transpose, whose rows are kWinogradFilters
/// long.
void transpose_to_filters(const float* HWY_RESTRICT from, int64_t row_step, int64_t rows, int64_t columns,
                          float* HWY_RESTRICT to) {
  constexpr int64_t kSide = kTransposedFloats;
  const int64_t whole_rows = rows / kSide * kSide, whole_columns = columns / kSide * kSide;
  for (int64_t i = 0; i < whole_rows; i += kSide)
    for (int64_t j = 0; j < whole_columns; j += kSide)
      transpose_square(from + i * row_step + j, row_step, to + j * kWinogradFilters + i, kWinogradFilters);
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = i < whole_rows ? whole_columns : 0; j < columns; ++j)
      to[j * kWinogradFilters + i] = from[i * row_step + j];
}

/// Puts the taps of some channels of a block's filters side by side: out[channel][tap][filter].
void gather_filters(const WinogradFilters& f, int64_t first_filter, int64_t first_channel, int64_t channels,
                    float* HWY_RESTRICT out) {
  const int64_t filters = HWY_MIN(kWinogradFilters, f.filters - first_filter);
  if (filters < kWinogradFilters) std::fill_n(out, channels * kTaps * kWinogradFilters, 0.0f);
  const float* w = f.w + first_filter * f.filter_step + first_channel * f.channel_step;
  if (f.column_step == 1 && f.row_step == 3 && f.channel_step == kTaps)
    return transpose_to_filters(w, f.filter_step, filters, channels * kTaps, out);
  for (int64_t k = 0; k < filters; ++k)
    for (int64_t c = 0; c < channels; ++c)
      for (int64_t tap = 0; tap < kTaps; ++tap)
        out[(c * kTaps + tap) * kWinogradFilters + k] =
            w[k * f.filter_step + c * f.channel_step + tap / 3 * f.row_step + tap % 3 * f.column_step];
}

/// The block's layout: [product][register tile][channel][filter of the tile], then the bias.
void transform_filters(const WinogradFilters& f, int64_t block, const float* bias, int64_t bias_step,
                       float* HWY_RESTRICT transformed) {
  constexpr int64_t kChannels = 16;
  HWY_ALIGN float taps[kChannels * kTaps * kWinogradFilters];
  const int64_t first = block * kWinogradFilters, step = filter_product_step(f.channels);
  for (int64_t c = 0; c < f.channels; c += kChannels) {
    const int64_t channels = HWY_MIN(kChannels, f.channels - c);
    gather_filters(f, first, c, channels, taps);
    for (int64_t i = 0; i < channels; ++i)
      for (int64_t k = 0; k < kWinogradFilters; k += kLanes)
        transform_channel(
            taps + i * kTaps * kWinogradFilters + k,
            transformed + (k / kTileColumns * f.channels + c + i) * kTileColumns + k % kTileColumns, step);
  }
  float* to = transformed + kProducts * step;
  for (int64_t k = 0; k < kWinogradFilters; ++k)
    to[k] = bias && first + k < f.filters ? bias[(first + k) * bias_step] : 0;
}

/// Where the 16 pixels of a window's tile begin.
struct TilePixels {
  const float* pixels[kProducts];

  TilePixels(const WinogradImages& images, int64_t window) {
    const int64_t n = window / (images.rows * images.columns),
                  place = window % (images.rows * images.columns);
    const int64_t top = place / images.columns * 2 - images.top,
                  left = place % images.columns * 2 - images.left;
    const float* image = images.x + n * images.image_step;
    for (int64_t i = 0; i < kProducts; ++i) {
      const int64_t h = top + i / 4, w = left + i % 4;
      const bool inside = h >= 0 && h < images.height && w >= 0 && w < images.width;
      pixels[i] = inside ? image + h * images.row_step + w * images.column_step : images.zeros;
    }
  }
};

/// `load(pixel)` gives some channels of it.
template <class Load>
HWY_INLINE void transform_pixels(Load load, float* HWY_RESTRICT out, int64_t step) {
  const Floats d;
  Vector columns[4][4], rows[4];
#pragma GCC unroll 4
  for (int j = 0; j < 4; ++j) apply_b(load(j), load(4 + j), load(8 + j), load(12 + j), columns[j]);
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    apply_b(columns[0][i], columns[1][i], columns[2][i], columns[3][i], rows);
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) hn::Store(rows[j], d, out + (i * 4 + j) * step);
  }
}

void transform_images(const WinogradImages& images, int64_t begin, int64_t end, float* HWY_RESTRICT out) {
  const Floats d;
  const int64_t channels = images.channels, step = image_product_step(channels, end - begin);
  for (int64_t window = begin; window < end; ++window, out += padded_channels(channels)) {
    const TilePixels tile(images, window);
    int64_t c = 0;
    for (; c + kLanes <= channels; c += kLanes)
      transform_pixels([&](int i) HWY_ATTR { return hn::LoadU(d, tile.pixels[i] + c); }, out + c, step);
    if (c == channels) continue;
    HWY_ALIGN float rest[kProducts][kLanes] = {};
    for (int64_t i = 0; i < kProducts; ++i) std::copy_n(tile.pixels[i] + c, channels - c, rest[i]);
    transform_pixels([&](int i) HWY_ATTR { return hn::Load(d, rest[i]); }, out + c, step);
  }
}

/// One register tile: results[row][:] = Σ_c image[row][c] · filters[c][:].
template <int Rows>
void multiply_tile(int64_t channels, const float* HWY_RESTRICT image, const float* HWY_RESTRICT filters,
                   float* HWY_RESTRICT results) {
  const Floats d;
  const int64_t image_step = padded_channels(channels);
  constexpr int64_t kResultStep = kProducts * kWinogradFilters;
  Vector sums[Rows][2];
#pragma GCC unroll 16
  for (int i = 0; i < Rows; ++i) sums[i][0] = sums[i][1] = hn::Zero(d);
  for (int64_t c = 0; c < channels; ++c, filters += kTileColumns) {
    const Vector f0 = hn::Load(d, filters), f1 = hn::Load(d, filters + kLanes);
#pragma GCC unroll 16
    for (int i = 0; i < Rows; ++i) {
      const Vector pixel = hn::Set(d, image[i * image_step + c]);
      sums[i][0] = hn::MulAdd(pixel, f0, sums[i][0]);
      sums[i][1] = hn::MulAdd(pixel, f1, sums[i][1]);
    }
  }
#pragma GCC unroll 16
  for (int i = 0; i < Rows; ++i) {
    hn::Store(sums[i][0], d, results + i * kResultStep);
    hn::Store(sums[i][1], d, results + i * kResultStep + kLanes);
  }
}

template <int Rows = kTileRows>
HWY_INLINE void multiply_rows(int64_t rows, int64_t channels, const float* image, const float* filters,
                              float* results) {
  if (rows == Rows) return multiply_tile<Rows>(channels, image, filters, results);
  if constexpr (Rows > 1) multiply_rows<Rows - 1>(rows, channels, image, filters, results);
}

/// The 16 products of one filter block.
void multiply_block(int64_t channels, int64_t windows, int64_t filters, const float* image,
                    const float* transformed, float* results) {
  const int64_t tiles = (windows + kTileRows - 1) / kTileRows;
  for (int64_t product = 0; product < kProducts; ++product) {
    const float* rows = image + product * image_product_step(channels, windows);
    const float* columns = transformed + product * filter_product_step(channels);
    for (int64_t k = 0; k < filters; k += kTileColumns)
      for (int64_t tile = 0; tile < tiles; ++tile) {
        const int64_t begin = windows * tile / tiles, end = windows * (tile + 1) / tiles;
        multiply_rows(end - begin, channels, rows + begin * padded_channels(channels), columns + k * channels,
                      results + (begin * kProducts + product) * kWinogradFilters + k);
      }
  }
}

/// Rows 0 and 1 of Aᵀ: 1 1 1 0, 0 1 −1 −1.
HWY_INLINE void apply_a(Vector m0, Vector m1, Vector m2, Vector m3, Vector& even, Vector& odd) {
  even = hn::Add(hn::Add(m0, m1), m2);
  odd = hn::Sub(hn::Sub(m1, m2), m3);
}

/// The window's largest result for some filters.
HWY_INLINE void pool_tile(const float* HWY_RESTRICT results, const float* HWY_RESTRICT bias, bool relu,
                          float* HWY_RESTRICT y, uint8_t* HWY_RESTRICT choice) {
  const Floats d;
  Vector top[4], bottom[4];
#pragma GCC unroll 4
  for (int j = 0; j < 4; ++j)
    apply_a(hn::Load(d, results + j * kWinogradFilters), hn::Load(d, results + (4 + j) * kWinogradFilters),
            hn::Load(d, results + (8 + j) * kWinogradFilters),
            hn::Load(d, results + (12 + j) * kWinogradFilters), top[j], bottom[j]);
  Vector window[4];
  apply_a(top[0], top[1], top[2], top[3], window[0], window[1]);
  apply_a(bottom[0], bottom[1], bottom[2], bottom[3], window[2], window[3]);
  store_largest_of_four(d, window, hn::Load(d, bias), relu, y, choice);
}

void pool_block(const PooledOutput& output, const float* results, const float* bias, int64_t windows,
                PooledBlock<kWinogradFilters> block) {
  block.place_in_output();
  for (int64_t i = 0; i < windows; ++i)
    for (int64_t k = 0; k < block.filters; k += kLanes)
      pool_tile(results + i * kProducts * kWinogradFilters + k, bias + k, output.relu,
                block.y + i * block.step + k, moved(block.choice, i * block.step + k));
  block.copy_out(windows);
}

void run_task(const WinogradImages& images, const WinogradTask& task, const PooledOutput& output) {
  const int64_t windows = task.window_end - task.window_begin;
  const WinogradScratch scratch(task.scratch, images.channels, windows);
  transform_images(images, task.window_begin, task.window_end, scratch.image);
  for (int64_t block = task.block_begin; block < task.block_end; ++block) {
    const float* transformed = task.transformed + block * winograd_block_size(images.channels);
    const int64_t first = block * kWinogradFilters, filters = HWY_MIN(kWinogradFilters, task.filters - first);
    multiply_block(images.channels, windows, filters, scratch.image, transformed, scratch.results);
    pool_block(output, scratch.results, transformed + kProducts * filter_product_step(images.channels),
               windows, {output, task.window_begin, first, filters, scratch.y, scratch.choice});
  }
}

}  // namespace treadle::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace treadle::cpu {
namespace {

HWY_EXPORT(transform_filters);
HWY_EXPORT(run_task);

}  // namespace

int64_t winograd_block_size(int64_t channels) {
  return kProducts * filter_product_step(channels) + kWinogradFilters;
}

void winograd_transform_filters(const WinogradFilters& filters, int64_t block, const float* bias,
                                int64_t bias_step, float* transformed) {
  HWY_DYNAMIC_DISPATCH(transform_filters)(filters, block, bias, bias_step, transformed);
}

int64_t winograd_windows(int64_t channels) {
  constexpr int64_t kTiles = 12, kMost = 96;  // whole register tiles of every instruction set
  const int64_t fit = kImageBytes / (kProducts * padded_channels(channels) * int64_t(sizeof(float)));
  return std::clamp(fit / kTiles * kTiles, kTiles, kMost);
}

int64_t winograd_scratch_size(int64_t channels, int64_t windows) {
  const int64_t floats =
      kProducts * image_product_step(channels, windows) + windows * (kProducts + 1) * kWinogradFilters;
  return floats * int64_t(sizeof(float)) + windows * kWinogradFilters;
}

void winograd_max_pool(const WinogradImages& images, const WinogradTask& task, const PooledOutput& output) {
  HWY_DYNAMIC_DISPATCH(run_task)(images, task, output);
}

}  // namespace treadle::cpu
#endif
