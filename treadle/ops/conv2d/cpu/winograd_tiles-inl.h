// The parts of Winograd's convolutions that every size of tile shares: y = Aᵀ[(G g Gᵀ) ⊙ (Bᵀ d B)]A, summed
// over channels between the brackets, which makes one matrix product of [tiles, channels] and [channels,
// filters] of each of a tile's places. For each instruction set that the including file is compiled for.
// Lavin and Gray, Fast Algorithms for Convolutional Neural Networks, 2016.
//
// A `Tile` says how one axis is transformed: kSide places, `filter` (G: kTaps vectors → kSide) and `image`
// (Bᵀ: kSide vectors → kSide). A tile may do with some of the points that filters were transformed for: its
// place i is their place(i) of kPlaces.
#include <algorithm>
#include <cstdint>

#include "treadle/ops/conv2d/cpu/winograd_operands.h"

#if defined(TREADLE_CPU_WINOGRAD_TILES_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TREADLE_CPU_WINOGRAD_TILES_INL_H
#undef TREADLE_CPU_WINOGRAD_TILES_INL_H
#else
#define TREADLE_CPU_WINOGRAD_TILES_INL_H
#endif

#include <hwy/highway.h>

#include "treadle/simd/transpose-inl.h"

HWY_BEFORE_NAMESPACE();
namespace treadle::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::CappedTag<float, kWinogradFilters / 2>;
using Vector = hn::Vec<Floats>;
constexpr int64_t kLanes = int64_t(hn::MaxLanes(Floats()));
constexpr int64_t kTileColumns = 2 * kLanes;  ///< filters of a register tile
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL || HWY_TARGET == HWY_NEON
constexpr int kTileRows = 12;  // 24 of 32 registers hold sums
#else
constexpr int kTileRows = 6;  // 12 of 16
#endif
static_assert(kWinogradFilters % kTileColumns == 0);

/// How an axis of a tile is transformed: kIn vectors to kOut. Filters, pixels and results.
template <class Tile>
struct FilterAxis : Tile {
  static constexpr int kIn = Tile::kTaps, kOut = Tile::kSide;
  HWY_INLINE static void apply(const Vector* in, Vector* out) { Tile::filter(in, out); }
};
template <class Tile>
struct ImageAxis : Tile {
  static constexpr int kIn = Tile::kSide, kOut = Tile::kSide;
  HWY_INLINE static void apply(const Vector* in, Vector* out) { Tile::image(in, out); }
};
template <class Tile>
struct ResultAxis : Tile {
  static constexpr int kIn = Tile::kSide, kOut = Tile::kResults;
  HWY_INLINE static void apply(const Vector* in, Vector* out) { Tile::result(in, out); }
};

/// Both axes of a tile, by Down along columns, then Across along rows: of vectors load(row, column) those
/// that store(row, column, vector) gets.
template <class Down, class Across, class Load, class Store>
HWY_INLINE void apply_both_axes(Load load, Store store) {
  Vector columns[Across::kIn][Down::kOut];
#pragma GCC unroll 8
  for (int j = 0; j < Across::kIn; ++j) {
    Vector column[Down::kIn];
#pragma GCC unroll 8
    for (int i = 0; i < Down::kIn; ++i) column[i] = load(i, j);
    Down::apply(column, columns[j]);
  }
#pragma GCC unroll 8
  for (int i = 0; i < Down::kOut; ++i) {
    Vector row[Across::kIn], result[Across::kOut];
#pragma GCC unroll 8
    for (int j = 0; j < Across::kIn; ++j) row[j] = columns[j][i];
    Across::apply(row, result);
#pragma GCC unroll 8
    for (int j = 0; j < Across::kOut; ++j) store(i, j, result[j]);
  }
}

/// One channel of `kLanes` filters; g[tap] are `tap_step` apart.
template <class Tile>
HWY_INLINE void transform_channel(const float* HWY_RESTRICT g, int64_t tap_step, float* HWY_RESTRICT out,
                                  int64_t step) {
  apply_both_axes<FilterAxis<Tile>, FilterAxis<Tile>>(
      [&](int r, int s) HWY_ATTR { return hn::Load(Floats(), g + (r * Tile::kTaps + s) * tap_step); },
      [&](int i, int j, Vector place)
          HWY_ATTR { hn::Store(place, Floats(), out + (i * Tile::kSide + j) * step); });
}

/// Puts the taps of some channels of a block's filters side by side: out[channel][tap][filter].
template <int64_t Taps>
HWY_INLINE void gather_filters(const WinogradFilters& f, int64_t first_filter, int64_t first_channel,
                               int64_t channels, float* HWY_RESTRICT out) {
  constexpr int64_t kAll = Taps * Taps;
  const int64_t filters = HWY_MIN(kWinogradFilters, f.filters - first_filter);
  if (filters < kWinogradFilters) std::fill_n(out, channels * kAll * kWinogradFilters, 0.0f);
  const float* w = f.w + first_filter * f.filter_step + first_channel * f.channel_step;
  if (f.column_step == 1 && f.row_step == Taps) {  // channels at once where they follow one another
    const int64_t adjoining = f.channel_step == kAll ? channels : 1;
    for (int64_t c = 0; c < channels; c += adjoining)
      transpose_squares<float, kTransposedFloats>(w + c * f.channel_step, f.filter_step, filters,
                                                  adjoining * kAll, out + c * kAll * kWinogradFilters,
                                                  kWinogradFilters);
    return;
  }
  for (int64_t k = 0; k < filters; ++k)
    for (int64_t c = 0; c < channels; ++c)
      for (int64_t tap = 0; tap < kAll; ++tap)
        out[(c * kAll + tap) * kWinogradFilters + k] =
            w[k * f.filter_step + c * f.channel_step + tap / Taps * f.row_step + tap % Taps * f.column_step];
}

/// The block's layout: [product][register tile][channel][filter of the tile], then the bias.
template <class Tile>
void transform_filter_block(const WinogradFilters& f, int64_t block, const float* bias, int64_t bias_step,
                            float* HWY_RESTRICT transformed) {
  constexpr int64_t kChannels = 16, kFilterTaps = Tile::kTaps * Tile::kTaps;
  HWY_ALIGN float taps[kChannels * kFilterTaps * kWinogradFilters];
  const int64_t first = block * kWinogradFilters, step = filter_product_step(f.channels);
  const int64_t tap_step = f.turned ? -kWinogradFilters : kWinogradFilters;
  const float* first_tap = taps + (f.turned ? kFilterTaps - 1 : 0) * kWinogradFilters;
  for (int64_t c = 0; c < f.channels; c += kChannels) {
    const int64_t channels = HWY_MIN(kChannels, f.channels - c);
    gather_filters<Tile::kTaps>(f, first, c, channels, taps);
    for (int64_t i = 0; i < channels; ++i)
      for (int64_t k = 0; k < kWinogradFilters; k += kLanes)
        transform_channel<Tile>(
            first_tap + i * kFilterTaps * kWinogradFilters + k, tap_step,
            transformed + (k / kTileColumns * f.channels + c + i) * kTileColumns + k % kTileColumns, step);
  }
  float* to = transformed + Tile::kSide * Tile::kSide * step;
  for (int64_t k = 0; k < kWinogradFilters; ++k)
    to[k] = bias && first + k < f.filters ? bias[(first + k) * bias_step] : 0;
}

/// A tile of all points.
template <int Side>
struct AllPlaces {
  static constexpr int kSide = Side, kPlaces = Side;
  static constexpr int place(int i) { return i; }
};

/// Bit i says whether tiles have product i, of Down along columns and Across along rows.
template <class Down, class Across>
constexpr uint64_t products_of() {
  uint64_t bits = 0;
  for (int i = 0; i < Down::kSide; ++i)
    for (int j = 0; j < Across::kSide; ++j)
      bits |= uint64_t(1) << (Down::place(i) * Across::kPlaces + Across::place(j));
  return bits;
}

/// Where the pixels of a tile begin, from one tile to the next `Step`.
template <int64_t Rows, int64_t Columns, int64_t Step>
struct TilePixels {
  const float* pixels[Rows * Columns];

  HWY_INLINE TilePixels(const WinogradImages& images, const TilePlace& place) {
    const int64_t top = place.row * Step - images.top, left = place.column * Step - images.left;
    const float* image = images.x + place.image * images.image_step;
    for (int64_t i = 0; i < Rows; ++i) {
      const int64_t h = top + i;
      const bool row_inside = h >= 0 && h < images.height;
      for (int64_t j = 0; j < Columns; ++j) {
        const int64_t w = left + j;
        const bool inside = row_inside && w >= 0 && w < images.width;
        pixels[i * Columns + j] =
            inside ? image + h * images.row_step + w * images.column_step : images.zeros;
      }
    }
  }
};

/// Both axes of a tile, of which load(number) gives one vector, row by row, to its places, which are of
/// kPlaces, at distances of `step`.
template <class Down, class Across, class Load>
HWY_INLINE void transform_both_axes(Load load, float* HWY_RESTRICT out, int64_t step) {
  apply_both_axes<Down, Across>([&](int i, int j) HWY_ATTR { return load(i * Across::kIn + j); },
                                [&](int i, int j, Vector value) HWY_ATTR {
                                  const int place = Down::place(i) * Across::kPlaces + Across::place(j);
                                  hn::Store(value, Floats(), out + place * step);
                                });
}

/// The same for channels [0, channels) of the pixels; `out` has room for whole vectors.
template <class Down, class Across>
HWY_INLINE void transform_pixels(const float* const* pixels, int64_t channels, float* HWY_RESTRICT out,
                                 int64_t step) {
  constexpr int kPixels = Down::kIn * Across::kIn;
  const Floats d;
  int64_t c = 0;
  for (; c + kLanes <= channels; c += kLanes)
    transform_both_axes<Down, Across>([&](int i) HWY_ATTR { return hn::LoadU(d, pixels[i] + c); }, out + c,
                                      step);
  if (c == channels) return;
  HWY_ALIGN float rest[kPixels][kLanes] = {};
  for (int i = 0; i < kPixels; ++i) std::copy_n(pixels[i] + c, channels - c, rest[i]);
  transform_both_axes<Down, Across>([&](int i) HWY_ATTR { return hn::Load(d, rest[i]); }, out + c, step);
}

/// Tiles [begin, end), transformed, to the places of a group's from number `first` on.
template <class Down, class Across>
HWY_INLINE void transform_tiles(const WinogradImages& images, int64_t begin, int64_t end,
                                const TileGroups& groups, int64_t first, float* HWY_RESTRICT out) {
  TilePlace place(images, begin);
  for (int64_t tile = begin; tile < end; ++tile, place.advance(images))
    transform_pixels<ImageAxis<Down>, ImageAxis<Across>>(
        TilePixels<Down::kSide, Across::kSide, Down::kPlaces - Down::kTaps + 1>(images, place).pixels,
        images.channels, out + groups.offset(first + tile - begin), groups.step());
}

/// The same as a group of their own.
template <class Down, class Across>
void transform_images(const WinogradImages& images, int64_t begin, int64_t end, float* HWY_RESTRICT out) {
  const TileGroups groups(Down::kPlaces * Down::kPlaces, images.channels, end - begin);
  transform_tiles<Down, Across>(images, begin, end, groups, 0, out);
}

/// One register tile: results[row][:] = Σ_c image[row][c] · filters[c][:].
template <int Rows>
void multiply_tile(int64_t channels, const float* HWY_RESTRICT image, const float* HWY_RESTRICT filters,
                   float* HWY_RESTRICT results) {
  const Floats d;
  const int64_t image_step = padded_channels(channels);
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
    hn::Store(sums[i][0], d, results + i * kWinogradFilters);
    hn::Store(sums[i][1], d, results + i * kWinogradFilters + kLanes);
  }
}

template <int Rows = kTileRows>
HWY_INLINE void multiply_rows(int64_t rows, int64_t channels, const float* image, const float* filters,
                              float* results) {
  if (rows == Rows) return multiply_tile<Rows>(channels, image, filters, results);
  if constexpr (Rows > 1) multiply_rows<Rows - 1>(rows, channels, image, filters, results);
}

/// A group of tiles as register tiles, as even as can be.
HWY_INLINE void multiply_group(int64_t tiles, int64_t channels, const float* images, const float* filters,
                               float* results) {
  const int64_t parts = (tiles + kTileRows - 1) / kTileRows;
  for (int64_t part = 0; part < parts; ++part) {
    const int64_t begin = tiles * part / parts, end = tiles * (part + 1) / parts;
    multiply_rows(end - begin, channels, images + begin * padded_channels(channels), filters,
                  results + begin * kWinogradFilters);
  }
}

/// The results of `kLanes` filters from products at distances of `step`, by store(row, column, results).
template <class Down, class Across, class Store>
HWY_INLINE void make_results(const float* HWY_RESTRICT products, int64_t step, Store store) {
  apply_both_axes<ResultAxis<Down>, ResultAxis<Across>>(
      [&](int i, int j) HWY_ATTR {
        return hn::Load(Floats(), products + (Down::place(i) * Across::kPlaces + Across::place(j)) * step);
      },
      store);
}

/// Calls f(block, its transformed filters, their bias, the first filter, how many) for each block of a task,
/// whose filters have so many products.
template <class Task, class F>
HWY_INLINE void for_each_block(const Task& task, int64_t products, int64_t channels, F f) {
  for (int64_t block = task.block_begin; block < task.block_end; ++block) {
    const float* filters = task.transformed + block * filter_block_size(products, channels);
    const int64_t first = block * kWinogradFilters;
    f(block, filters, filters + products * filter_product_step(channels), first,
      HWY_MIN(kWinogradFilters, task.filters - first));
  }
}

/// Has so many floats fetched to the second-level cache. Inlined, as are its callers: GCC drops calls of a
/// function that does nothing else.
HWY_INLINE void fetch_floats(const float* from, int64_t floats) {
  for (int64_t i = 0; i < floats; i += kLineFloats) __builtin_prefetch(from + i, 0, 2);
}

/// Fetches what some tiles of images or of results lie on, `Side` rows of `Side` places each, row by row.
/// Of channels-last operands: `floats` of each place are wanted.
template <int64_t Side>
class TileFetch {
 public:
  /// Tiles [begin, end) of `like`, whose element (n, c, h, w) is at[n·image_step + c + h·row_step +
  /// w·column_step].
  TileFetch(const WinogradImages& like, int64_t begin, int64_t end, int64_t floats)
      : like_(like), place_(like, begin), left_((end - begin) * Side), floats_(floats) {}

  int64_t left() const { return left_; }

  /// The next row.
  HWY_INLINE void operator()() {
    const int64_t h = place_.row * Side + row_ - like_.top, left = place_.column * Side - like_.left;
    const int64_t begin = HWY_MAX(int64_t(0), left), end = HWY_MIN(left + Side, like_.width);
    if (h >= 0 && h < like_.height) {
      const float* row = like_.x + place_.image * like_.image_step + h * like_.row_step;
      for (int64_t w = begin; w < end; ++w) fetch_floats(row + w * like_.column_step, floats_);
    }
    --left_;
    if (++row_ < Side) return;
    row_ = 0;
    place_.advance(like_);
  }

 private:
  const WinogradImages& like_;
  TilePlace place_;
  int64_t left_, floats_, row_ = 0;
};

/// Spreads fetches evenly over `calls` calls: what is needed next comes while products are computed, a little
/// at a time, as a processor waits for few lines of memory at once.
template <class Fetch>
class Spread {
 public:
  Spread(Fetch fetch, int64_t calls) : fetch_(fetch), rows_(fetch.left()), calls_(calls) {}

  HWY_INLINE void operator()() {
    for (due_ += rows_; due_ >= calls_; due_ -= calls_) fetch_();
  }

 private:
  Fetch fetch_;
  int64_t rows_, calls_, due_ = 0;
};

/// How often multiply_block() calls `between`.
HWY_INLINE int64_t multiply_calls(const TileGroups& images, int64_t filters, uint64_t products) {
  return __builtin_popcountll(products) * ((filters + kTileColumns - 1) / kTileColumns) *
         ((images.tiles + images.group - 1) / images.group);
}

/// Products of the tiles with one filter block, those with a bit in `wanted`. Calls between() before each
/// group's.
template <class Between>
HWY_INLINE void multiply_block(const TileGroups& images, uint64_t wanted, int64_t channels, int64_t filters,
                               const float* transformed_images, const float* transformed_filters,
                               float* results, Between between) {
  const TileGroups products(images.products, kWinogradFilters, images.tiles);
  for (int64_t product = 0; product < images.products; ++product) {
    if (!(wanted >> product & 1)) continue;
    for (int64_t k = 0; k < filters; k += kTileColumns) {
      const float* columns = transformed_filters + product * filter_product_step(channels) + k * channels;
      for (int64_t tile = 0; tile < images.tiles; tile += images.group) {
        between();
        multiply_group(HWY_MIN(images.group, images.tiles - tile), channels,
                       transformed_images + product * images.step() + images.offset(tile), columns,
                       results + product * products.step() + products.offset(tile) + k);
      }
    }
  }
}

}  // namespace treadle::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // once for each target
