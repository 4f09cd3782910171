/// Which convolutions Winograd's F(4×4, 3×3) and F(3×3, 4×4) are for.
#pragma once

#include <algorithm>
#include <optional>

#include "treadle/core/tensor_view.h"
#include "treadle/core/work.h"
#include "treadle/ops/conv2d/conv2d_options.h"
#include "treadle/ops/conv2d/cpu/winograd_convolution.h"
#include "treadle/ops/conv2d/cpu/winograd_tasks.h"

namespace treadle {

/// Below the direct variants: where nothing is measured, results keep errors that are small beside the
/// products of each one. Winograd's are small beside those of a whole tile, so that a sum of products with
/// zeros alone gets what its neighbours round.
inline constexpr int kWinogradPreference = 5;

/// With pixels of size 1 and taps of size 1, a result is a sum of 9 products for each channel. Here it is one
/// of 6·6 products of a transformed tile and a transformed filter; along one axis their sizes, times the
/// power of the point, are at most 22 together for the first and for the last of the four results, less for
/// the others, hence 22² in two. Roundings are no more than those of the direct sum: one for each channel,
/// and about thirty for the transforms.
inline constexpr double kWinogradGrowth4x4 = 22.0 * 22 / 9;

inline int64_t winograd_tiles_along(int64_t results) {
  return (results + cpu::kWinogradResults - 1) / cpu::kWinogradResults;
}

/// Whether results of [.., P, Q] fill half of their tiles: else the products saved are lost at the edges.
inline bool results_fill_tiles(const TensorView& y) {
  const int64_t P = y.shape[2], Q = y.shape[3];
  return 2 * P * Q >=
         winograd_tiles_along(P) * winograd_tiles_along(Q) * cpu::kWinogradResults * cpu::kWinogradResults;
}

/// Whether a convolution has 3×3 windows and stride 1, with channels and filters that pay for the transforms.
/// With more padding than 2, results that see nothing of x would not be 0.
inline bool suits_winograd(const Conv2dOptions& o, const TensorView& w) {
  constexpr int64_t kFewest = 8, kMostPadding = 2;
  const int64_t padding = std::max({o.padding.top, o.padding.left, o.padding.bottom, o.padding.right});
  return w.shape[2] == 3 && w.shape[3] == 3 && o.stride == Pair(1) && o.dilation == Pair(1) &&
         o.groups == 1 && padding <= kMostPadding && w.shape[0] >= kFewest && w.shape[1] >= kFewest;
}

/// Whether one of x and w to y is such, of f32, with tiles that share the filters: these are four times as
/// large as w, and in a network of many of them come from memory.
inline bool takes_winograd(const Conv2dOptions& o, const TensorView& x, const TensorView& w,
                           const TensorView& y) {
  constexpr int64_t kFewestTiles = 4;
  const int64_t tiles = y.shape[0] * winograd_tiles_along(y.shape[2]) * winograd_tiles_along(y.shape[3]);
  return x.dtype == DType::f32 && x.numel() > 0 && suits_winograd(o, w) && tiles >= kFewestTiles &&
         results_fill_tiles(y);
}

/// Tiles that are computed alike, a part of each image's: `rows` from `row` on, `columns` from `column` on.
/// Where they are narrow, two rows or columns of results at most lie inside the image.
struct TileRegion {
  int64_t row, rows, column, columns;
  bool narrow_rows, narrow_columns;

  int64_t tiles(int64_t images) const { return images * rows * columns; }
  /// Of a tile: 6 along an axis, 4 where it is narrow.
  int64_t products() const { return (narrow_rows ? 4 : 6) * (narrow_columns ? 4 : 6); }
  /// The same images, of whose tiles these are all.
  cpu::WinogradImages of(cpu::WinogradImages images) const {
    images.top -= row * cpu::kWinogradResults, images.left -= column * cpu::kWinogradResults;
    images.rows = rows, images.columns = columns;
    return images;
  }
  cpu::WinogradResults of(cpu::WinogradResults results) const {
    const int64_t p = row * cpu::kWinogradResults, q = column * cpu::kWinogradResults;
    results.y += p * results.row_step + q * results.column_step;
    results.height -= p, results.width -= q;
    return results;
  }
};

/// The regions of images with results [P, Q]: the last row and the last column of tiles are regions of their
/// own where they are narrow, so that their other products are not made (14×14 results: 484 of 576 are left).
/// Not where that would leave tiles for less than half of a register tile.
class TileRegions {
 public:
  static constexpr int64_t kFewestTiles = cpu::TileGroups::kMost / 2;
  static constexpr size_t kMost = 4;

  TileRegions(int64_t images, int64_t P, int64_t Q, int64_t fewest_tiles = kFewestTiles) {
    const Axis down(P), across(Q);
    const bool split =
        images * (down.narrow ? 1 : down.all) * (across.narrow ? 1 : across.all) >= fewest_tiles;
    if (!split) {
      add({0, down.all, 0, across.all, false, false});
      return;
    }
    for (const bool last_row : {false, true})
      for (const bool last_column : {false, true}) {
        const Range rows = down.part(last_row), columns = across.part(last_column);
        add({rows.begin, rows.size(), columns.begin, columns.size(), last_row, last_column});
      }
  }
  const TileRegion* begin() const { return regions_; }
  const TileRegion* end() const { return regions_ + count_; }
  size_t size() const { return size_t(count_); }
  const TileRegion& operator[](size_t i) const { return regions_[i]; }
  int64_t products(int64_t images) const {
    int64_t sum = 0;
    for (const TileRegion& region : *this) sum += region.tiles(images) * region.products();
    return sum;
  }

 private:
  struct Axis {
    int64_t all;
    bool narrow;

    explicit Axis(int64_t results)
        : all(winograd_tiles_along(results)),
          narrow(results % cpu::kWinogradResults == 1 || results % cpu::kWinogradResults == 2) {}
    Range part(bool last) const {
      const int64_t whole = all - (narrow ? 1 : 0);
      return last ? Range{whole, all} : Range{0, whole};
    }
  };

  void add(const TileRegion& region) {
    if (region.rows > 0 && region.columns > 0) regions_[count_++] = region;
  }

  TileRegion regions_[kMost];
  int count_ = 0;
};

/// A convolution's tiles of all regions, and its filters, for threads that take batch after batch as they get
/// free, the regions of most work first.
class RegionTasks {
 public:
  RegionTasks(int64_t images, int64_t P, int64_t Q, int64_t channels, int64_t filters)
      : regions_(images, P, Q), images_(images), filters_(filters) {
    const int64_t most = cpu::winograd_tiles(channels);
    scratch_size_ = cpu::winograd_scratch(channels, most);
    const int64_t products = regions_.products(images) * channels * filters;
    parts_ = parts_of(products);
    for (size_t i = 0; i < regions_.size(); ++i) {
      cuts_[i].emplace(regions_[i].tiles(images), divide_up(filters, cpu::kWinogradFilters), most, products);
      tasks_ += cuts_[i]->tasks();
    }
  }

  /// Calls f(region, task) for all, with the transformed filters.
  template <class F>
  void run(const Call& call, const float* transformed, F f) const {
    float* scratch = call.workspace<float>(parts_ * scratch_size_);
    parallel_for_each(tasks_, parts_, [&](int64_t part, int64_t i) {
      size_t k = 0;
      for (; i >= cuts_[k]->tasks(); ++k) i -= cuts_[k]->tasks();
      const TileRegion& region = regions_[k];
      cuts_[k]->run_task(i, [&](Range range, Range blocks) {
        f(region, cpu::WinogradConvolutionTask{region.narrow_rows, region.narrow_columns, range.begin,
                                               range.end, region.tiles(images_), blocks.begin, blocks.end,
                                               filters_, transformed, scratch + part * scratch_size_});
      });
    });
  }

 private:
  TileRegions regions_;
  int64_t images_, filters_, scratch_size_ = 0, parts_ = 1, tasks_ = 0;
  std::optional<WinogradCut> cuts_[TileRegions::kMost];  ///< in place: replays allocate nothing
};

}  // namespace treadle
