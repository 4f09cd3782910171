/// The lists of gradients that conv2d_max_pool2d's gradients on the cpu device work from, and how the batch
/// is cut for them.
#pragma once

#include <array>

#include "treadle/core/parallel_for.h"
#include "treadle/graph/variant.h"
#include "treadle/ops/conv2d_max_pool2d.h"
#include "treadle/ops/conv2d_max_pool2d_planes.h"

namespace treadle {

/// Numbers [first, end).
struct Range {
  int64_t first, end;
  int64_t count() const { return end - first; }
};

/// Part i of [0, count) cut into `parts`.
constexpr Range part_of(int64_t count, int64_t i, int64_t parts) {
  return {count * i / parts, count * (i + 1) / parts};
}

constexpr int64_t divide_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// Chunks of images, whose pooling windows lie in bands of rows. The lists of some chunks are kept at a time.
struct BatchCuts {
  static constexpr int64_t kPlaneBytes = 24 * 1024;       ///< planes of a chunk, or of a band: stay in L1
  static constexpr int64_t kListBytes = 8 * 1024 * 1024;  ///< lists at hand: stay in L3

  int64_t batch, pooled_rows, pooled_width;
  int64_t images, chunks;  ///< images of a chunk
  int64_t rows, bands;     ///< pooled rows of a band
  int64_t capacity;        ///< of a list
  int64_t chunks_at_hand;

  BatchCuts(const Planes& planes, int threads)
      : batch(planes.g.conv.N), pooled_rows(planes.g.pool.P), pooled_width(planes.g.pool.Q) {
    const int64_t bytes = planes.size * int64_t(sizeof(float));
    images = std::clamp<int64_t>(kPlaneBytes / bytes, 1, batch);
    chunks = divide_up(batch, images);
    const int64_t row_bytes = planes.offset(planes.g.pool.stride.height, 0) * int64_t(sizeof(float));
    rows =
        bytes <= 2 * kPlaneBytes ? pooled_rows : std::clamp<int64_t>(kPlaneBytes / row_bytes, 1, pooled_rows);
    bands = divide_up(pooled_rows, rows);
    capacity = images * rows * pooled_width + cpu::vector_floats();
    const int64_t list_bytes = bands * planes.g.conv.K * capacity * int64_t(sizeof(float) + sizeof(int32_t));
    chunks_at_hand = std::min(chunks, std::max<int64_t>(kListBytes / list_bytes, threads));
  }
  Range images_of(int64_t chunk) const { return {chunk * images, std::min((chunk + 1) * images, batch)}; }
  /// Pooling windows, p · Q + q.
  Range windows_of(int64_t band) const {
    return {band * rows * pooled_width, std::min((band + 1) * rows, pooled_rows) * pooled_width};
  }
};

/// dy and choice are row-major or channels-last. Neither the batch nor the windows are empty.
class GradientListing {
 public:
  GradientListing(const Call& call, const Planes& planes, const TensorView& dy, const TensorView& choice)
      : planes_(planes), cuts_(planes, num_threads()), dy_(dy), choice_(choice) {
    const Pool2dGeometry& pool = planes.g.pool;
    const int64_t lists = cuts_.chunks_at_hand * cuts_.bands * filters();
    values_ = call.workspace<float>(lists * cuts_.capacity);
    offsets_ = call.workspace<int32_t>(lists * cuts_.capacity);
    counts_ = call.workspace<int64_t>(lists);
    sums_ = call.workspace<float>(cuts_.chunks * cuts_.bands * filters());
    rows_size_ = kFiltersOfPiece * cuts_.images * cuts_.rows * pool.Q;
    dy_rows_ = call.workspace<float>(num_threads() * rows_size_);
    choice_rows_ = call.workspace<uint8_t>(num_threads() * rows_size_);
    windows_ = call.workspace<int32_t>(pool.P * pool.Q);
    fill_offsets();
  }

  const BatchCuts& cuts() const { return cuts_; }

  /// Pieces of the work of listing `chunks` chunks.
  int64_t pieces(int64_t chunks) const { return chunks * cuts_.bands * pieces_of_band(); }
  /// Lists piece number `piece` of the chunks from first_chunk on. `slot` is below num_threads(), and another
  /// one for calls at the same time.
  void list(int64_t first_chunk, int64_t piece, int64_t slot) const {
    const int64_t k = piece % pieces_of_band() * kFiltersOfPiece,
                  band = piece / pieces_of_band() % cuts_.bands, at = piece / pieces_of_band() / cuts_.bands;
    list_filters(first_chunk, at, band, {k, std::min(k + kFiltersOfPiece, filters())}, slot);
  }
  /// The lists of the chunk that is number `at` at hand, from a filter on.
  cpu::GradientLists lists(int64_t at, int64_t band, int64_t filter) const {
    const int64_t i = (at * cuts_.bands + band) * filters() + filter;
    return {values_ + i * cuts_.capacity, offsets_ + i * cuts_.capacity, counts_ + i, cuts_.capacity};
  }
  /// The sum of all gradients of a filter, when all chunks have been listed.
  float sum(int64_t filter) const {
    float sum = 0;
    for (int64_t i = 0; i < cuts_.chunks * cuts_.bands; ++i) sum += sums_[i * filters() + filter];
    return sum;
  }

 private:
  static constexpr int64_t kFiltersOfPiece = 16;  ///< a cache line of dy where it is channels-last

  int64_t filters() const { return planes_.g.conv.K; }
  int64_t pieces_of_band() const { return divide_up(filters(), kFiltersOfPiece); }

  void fill_offsets() {
    const Pool2dGeometry& pool = planes_.g.pool;
    for (int64_t p = 0; p < pool.P; ++p)
      for (int64_t q = 0; q < pool.Q; ++q)
        windows_[p * pool.Q + q] = int32_t(planes_.offset(pool.row(p, 0), pool.column(q, 0)));
    places_.fill(0);
    for (int64_t place = 0; place < planes_.g.places(); ++place)
      places_[place] = int32_t(planes_.offset(place / pool.S, place % pool.S));
    windows_lie_inside_ = pool.inside(pool.row(0, 0), pool.column(0, 0)) &&
                          pool.inside(pool.row(pool.P - 1, pool.R - 1), pool.column(pool.Q - 1, pool.S - 1));
  }

  /// Filter by filter, a row of windows per image.
  template <class T>
  struct Rows {
    const T* first;
    int64_t image_step, filter_step;
    const T* of(int64_t image, int64_t filter) const {
      return first + image * image_step + filter * filter_step;
    }
  };

  /// The rows as they lie, or transposed into `scratch`.
  template <class T>
  Rows<T> rows_of(const TensorView& view, Range images, Range windows, Range k, T* scratch) const {
    const int64_t plane = cuts_.pooled_rows * cuts_.pooled_width, size = k.count() * windows.count();
    const T* first = view.as<T>();
    if (view.contiguous())
      return {first + (images.first * filters() + k.first) * plane + windows.first, filters() * plane, plane};
    for (int64_t n = images.first; n < images.end; ++n)
      cpu::transpose(windows.count(), k.count(), first + (n * plane + windows.first) * filters() + k.first,
                     filters(), scratch + (n - images.first) * size, windows.count());
    return {scratch, size, windows.count()};
  }

  /// The choices without those of places outside the convolution's result; may be done in place.
  Rows<uint8_t> places_inside(const Rows<uint8_t>& choice, int64_t images, Range windows, int64_t filters,
                              uint8_t* scratch) const {
    const Pool2dGeometry& pool = planes_.g.pool;
    uint8_t* to = scratch;
    for (int64_t n = 0; n < images; ++n)
      for (int64_t k = 0; k < filters; ++k)
        for (int64_t i = 0; i < windows.count(); ++i) {
          const int64_t window = windows.first + i;
          const uint8_t place = choice.of(n, k)[i];
          *to++ = chosen_place(pool, window / pool.Q, window % pool.Q, place).row < 0 ? kNoChoice : place;
        }
    return {scratch, filters * windows.count(), windows.count()};
  }

  void list_filters(int64_t first_chunk, int64_t at, int64_t band, Range k, int64_t slot) const {
    const Range images = cuts_.images_of(first_chunk + at), windows = cuts_.windows_of(band);
    uint8_t* scratch = choice_rows_ + slot * rows_size_;
    const auto dy = rows_of(dy_, images, windows, k, dy_rows_ + slot * rows_size_);
    auto choice = rows_of(choice_, images, windows, k, scratch);
    if (!windows_lie_inside_) choice = places_inside(choice, images.count(), windows, k.count(), scratch);
    const cpu::PlaceOffsets places{windows_ + windows.first, places_.data(), int32_t(planes_.g.places()),
                                   int32_t(planes_.size)};
    for (int64_t i = 0; i < k.count(); ++i) {
      const cpu::PooledRows rows{dy.of(0, i),       choice.of(0, i), dy.image_step,
                                 choice.image_step, images.count(),  windows.count()};
      const int64_t list = (at * cuts_.bands + band) * filters() + k.first + i;
      counts_[list] =
          cpu::list_gradients(rows, places, values_ + list * cuts_.capacity, offsets_ + list * cuts_.capacity,
                              sums_ + first_chunk * cuts_.bands * filters() + list);
    }
  }

  const Planes& planes_;
  BatchCuts cuts_;
  TensorView dy_, choice_;
  float *values_, *sums_, *dy_rows_;
  int32_t *offsets_, *windows_;
  int64_t* counts_;
  uint8_t* choice_rows_;
  int64_t rows_size_;
  std::array<int32_t, 256> places_;  ///< for every choice
  bool windows_lie_inside_;
};

}  // namespace treadle
