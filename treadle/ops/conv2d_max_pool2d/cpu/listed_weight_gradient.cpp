/// conv2d_max_pool2d_weight_gradient on the cpu device from the chosen places alone; f32.
///
/// Of each pooling window at most one place has a gradient, and where ReLU is closed none has. They are
/// listed filter by filter; then each filter's sums stay in registers while the windows of x that its list
/// names are added. Gradients of 0 are left out, so that infinity and NaN in x do not meet them; but an
/// infinite or NaN gradient meets the zeros of the padding. There is no dense path: with 64 channels and 128
/// filters of 3x3 (AVX2) the lists are as fast as unfolding and cpu::gemm even without pooling and at
/// density 1.
#include <array>

#include "treadle/graph/variant.h"
#include "treadle/ops/conv2d_max_pool2d/conv2d_max_pool2d.h"
#include "treadle/ops/conv2d_max_pool2d/cpu/planes.h"

namespace treadle {
namespace {

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

/// The gradients of the chunks at hand, filter by filter.
class FilterLists {
 public:
  FilterLists(const Call& call, const Planes& planes, int threads)
      : planes_(planes), cuts_(planes, threads), dy_(call.input(1)), choice_(call.input(2)) {
    const Pool2dGeometry& pool = planes.g.pool;
    const int64_t lists = cuts_.chunks_at_hand * cuts_.bands * filters();
    lists_ = call.workspace<cpu::GradientList>(lists);
    values_ = call.workspace<float>(lists * cuts_.capacity);
    offsets_ = call.workspace<int32_t>(lists * cuts_.capacity);
    sums_ = call.workspace<float>(cuts_.chunks * cuts_.bands * filters());
    rows_size_ = kFiltersOfPiece * cuts_.images * cuts_.rows * pool.Q;
    dy_rows_ = call.workspace<float>(threads * rows_size_);
    choice_rows_ = call.workspace<uint8_t>(threads * rows_size_);
    windows_ = call.workspace<int32_t>(pool.P * pool.Q);
    fill_offsets();
  }

  const BatchCuts& cuts() const { return cuts_; }

  /// Pieces of the work of listing `chunks` chunks.
  int64_t pieces(int64_t chunks) const { return chunks * cuts_.bands * pieces_of_band(); }
  /// Lists a piece of the chunks from first_chunk on; calls at the same time name different threads.
  void list(int64_t first_chunk, int64_t piece, int64_t thread) const {
    const int64_t k = piece % pieces_of_band() * kFiltersOfPiece,
                  band = piece / pieces_of_band() % cuts_.bands, at = piece / pieces_of_band() / cuts_.bands;
    list_filters(first_chunk, at, band, {k, std::min(k + kFiltersOfPiece, filters())}, thread);
  }
  /// Adds what the lists of some filters name in the planes of the chunk that is number `at` at hand to the
  /// sums of their group's filters.
  void add(int64_t at, int64_t band, Range filters, const float* planes, float* sums) const {
    cpu::add_windows(filters.size(), lists_ + index(at, band, filters.begin), values_, offsets_,
                     planes_.window, planes, planes_.steps, sums, planes_.filter_steps);
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
  int64_t index(int64_t at, int64_t band, int64_t filter) const {
    return (at * cuts_.bands + band) * filters() + filter;
  }

  void fill_offsets() {
    const Pool2dGeometry& pool = planes_.g.pool;
    for (int64_t p = 0; p < pool.P; ++p)
      for (int64_t q = 0; q < pool.Q; ++q)
        windows_[p * pool.Q + q] = int32_t(planes_.offset(pool.row(p, 0), pool.column(q, 0)));
    places_.fill(0);
    for (int64_t place = 0; place < planes_.g.places(); ++place)
      places_[place] = int32_t(planes_.offset(place / pool.S, place % pool.S));
    windows_lie_inside_ = windows_lie_inside(pool);
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
    const int64_t plane = cuts_.pooled_rows * cuts_.pooled_width, size = k.size() * windows.size();
    const T* first = view.as<T>();
    if (view.contiguous())
      return {first + (images.begin * filters() + k.begin) * plane + windows.begin, filters() * plane, plane};
    for (int64_t n = images.begin; n < images.end; ++n)
      cpu::transpose(windows.size(), k.size(), first + (n * plane + windows.begin) * filters() + k.begin,
                     filters(), scratch + (n - images.begin) * size, windows.size());
    return {scratch, size, windows.size()};
  }

  /// The choices without those of places outside the convolution's result; may be done in place.
  Rows<uint8_t> places_inside(const Rows<uint8_t>& choice, int64_t images, Range windows, int64_t filters,
                              uint8_t* scratch) const {
    const Pool2dGeometry& pool = planes_.g.pool;
    uint8_t* to = scratch;
    for (int64_t n = 0; n < images; ++n)
      for (int64_t k = 0; k < filters; ++k)
        for (int64_t i = 0; i < windows.size(); ++i) {
          const int64_t window = windows.begin + i;
          const uint8_t place = choice.of(n, k)[i];
          *to++ = chosen_place(pool, window / pool.Q, window % pool.Q, place).row < 0 ? kNoChoice : place;
        }
    return {scratch, filters * windows.size(), windows.size()};
  }

  void list_filters(int64_t first_chunk, int64_t at, int64_t band, Range k, int64_t thread) const {
    const Range images = cuts_.images_of(first_chunk + at), windows = cuts_.windows_of(band);
    uint8_t* scratch = choice_rows_ + thread * rows_size_;
    const auto dy = rows_of(dy_, images, windows, k, dy_rows_ + thread * rows_size_);
    auto choice = rows_of(choice_, images, windows, k, scratch);
    if (!windows_lie_inside_) choice = places_inside(choice, images.size(), windows, k.size(), scratch);
    const cpu::PlaceOffsets places{windows_ + windows.begin, places_.data(), int32_t(planes_.g.places()),
                                   int32_t(planes_.size)};
    for (int64_t i = 0; i < k.size(); ++i) {
      const cpu::FilterRows rows{dy.of(0, i),       choice.of(0, i), dy.image_step,
                                 choice.image_step, images.size(),   windows.size()};
      const int64_t list = index(at, band, k.begin + i), begin = list * cuts_.capacity;
      const int64_t count = cpu::list_of_filter(rows, places, values_ + begin, offsets_ + begin,
                                                sums_ + first_chunk * cuts_.bands * filters() + list);
      lists_[list] = {begin, begin + count, (k.begin + i) % planes_.g.conv.filters * planes_.filter_size};
    }
  }

  const Planes& planes_;
  BatchCuts cuts_;
  TensorView dy_, choice_;
  cpu::GradientList* lists_;
  float *values_, *sums_, *dy_rows_;
  int32_t *offsets_, *windows_;
  uint8_t* choice_rows_;
  int64_t rows_size_;
  std::array<int32_t, 256> places_;  ///< for every choice
  bool windows_lie_inside_;
};

class WeightGradient {
 public:
  WeightGradient(const Call& call, const Planes& planes)
      : planes_(planes),
        threads_(num_threads()),
        lists_(call, planes, threads_),
        runs_(planes, lists_.cuts().images),
        x_(call.input(0).as<float>()),
        dw_(call.output(0).as<float>()),
        db_(call.output(1).as<float>()),
        sums_(call.workspace<float>(runs_.filters_size())),
        scratch_(call.workspace<float>(threads_ * runs_.plane_size)) {
    // Enough items for the threads to have about as many each; every item copies its channels of x anew.
    while (parts_ < planes.g.conv.filters && runs_.count() * parts_ % threads_ != 0 &&
           runs_.count() * parts_ < 4 * threads_)
      ++parts_;
  }

  void run() {
    const BatchCuts& cuts = lists_.cuts();
    for (int64_t first = 0; first < cuts.chunks; first += cuts.chunks_at_hand) {
      const int64_t chunks = std::min(cuts.chunks_at_hand, cuts.chunks - first),
                    products = lists_.pieces(chunks) * cuts.capacity * planes_.blocks * planes_.filter_size;
      for_each_item(threads_, lists_.pieces(chunks), products,
                    [&](int64_t thread, int64_t piece) { lists_.list(first, piece, thread); });
      for_each_item(threads_, runs_.count() * parts_, products, [&](int64_t thread, int64_t item) {
        add_chunks({first, first + chunks}, item / parts_, Cut(planes_.g.conv.filters, parts_)[item % parts_],
                   scratch_ + thread * runs_.plane_size);
      });
    }
    for (int64_t k = 0; k < planes_.g.conv.K; ++k) db_[k] = lists_.sum(k);
  }

 private:
  float* sums_of(const ChannelBlock& block, int64_t filter) const {
    return sums_ + runs_.filters_of(block) + filter * planes_.filter_size;
  }

  /// `filters` are some of the group's.
  void add_chunks(Range chunks, int64_t run, Range filters, float* scratch) const {
    std::fill_n(scratch, runs_.plane_size, 0.0f);
    if (chunks.begin == 0)
      runs_.for_each_block(run, [&](const ChannelBlock& block, int64_t) {
        std::fill(sums_of(block, filters.begin), sums_of(block, filters.end), 0.0f);
      });
    for (int64_t at = 0; at < chunks.size(); ++at)
      add_chunk(lists_.cuts().images_of(chunks.begin + at), at, run, filters, scratch);
    if (chunks.end == lists_.cuts().chunks)
      runs_.for_each_block(run, [&](const ChannelBlock& block, int64_t) {
        for (int64_t k = filters.begin; k < filters.end; ++k)
          planes_.scatter_taps(block, sums_of(block, k), dw_ + runs_.taps_of(block, k));
      });
  }

  void add_chunk(Range images, int64_t at, int64_t run, Range filters, float* scratch) const {
    runs_.for_each_block(run, [&](const ChannelBlock& block, int64_t i) {
      for (int64_t n = images.begin; n < images.end; ++n)
        planes_.gather(block, n, x_, scratch + i * runs_.block_size + (n - images.begin) * planes_.size);
    });
    runs_.for_each_block(run, [&](const ChannelBlock& block, int64_t i) {
      const int64_t first = block.group * planes_.g.conv.filters;
      for (int64_t band = 0; band < lists_.cuts().bands; ++band)
        lists_.add(at, band, {first + filters.begin, first + filters.end}, scratch + i * runs_.block_size,
                   sums_of(block, 0));
    });
  }

  const Planes& planes_;
  const int threads_;
  FilterLists lists_;
  BlockRuns runs_;
  const float* x_;
  float *dw_, *db_, *sums_, *scratch_;
  int64_t parts_ = 1;  ///< that the filters of a group are cut into
};

Conv2dMaxPool2dGeometry geometry_of(const Call& call) {
  return make_conv2d_max_pool2d_geometry(call.input(0), call.output(), call.input(1),
                                         call.options<Conv2dMaxPool2dWeightGradientOptions>());
}

void run(const Call& call) {
  const Planes planes(geometry_of(call));
  WeightGradient(call, planes).run();
}

bool takes(const Call& call) {
  for (int i = 0; i < 3; ++i)
    if (!is_row_major_or_channels_last(call.input(i))) return false;
  return call.input(0).dtype == DType::f32 && !has_no_products(geometry_of(call)) &&
         fits_planes(call.input(0), call.options<Conv2dMaxPool2dWeightGradientOptions>());
}

}  // namespace

namespace ops {

void register_conv2d_max_pool2d_cpu_listed_weight_gradient(Registry& registry) {
  add_variant(registry, "conv2d_max_pool2d_weight_gradient",
              {.name = "listed",
               .device = DeviceKind::cpu,
               .run = run,
               .when = takes,
               .preference = 10,
               .skips_zeros = true});
}

}  // namespace ops
}  // namespace treadle
