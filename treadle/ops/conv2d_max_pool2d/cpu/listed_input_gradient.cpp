/// conv2d_max_pool2d_input_gradient on the cpu device from the chosen places alone; f32.
///
/// Of each pooling window at most one place has a gradient, and where ReLU is closed none has. They are
/// listed place by place; then a window of dx stays in registers while the weights of the filters are added
/// that its list names. Gradients of 0 are left out, so that infinity and NaN in w do not meet them.
#include "treadle/graph/variant.h"
#include "treadle/ops/conv2d_max_pool2d/conv2d_max_pool2d.h"
#include "treadle/ops/conv2d_max_pool2d/cpu/planes.h"

namespace treadle {
namespace {

/// The filters of each group in parts, and the lists of some images kept at a time.
struct FilterCuts {
  static constexpr int64_t kWeightBytes = 20 * 1024;  ///< of a part and a block of channels: stay in L1
  static constexpr int64_t kListed = 32;              ///< but lists of a part are not made shorter than that
  static constexpr int64_t kListBytes = 8 * 1024 * 1024;  ///< stay in L3

  int64_t filters, parts;   ///< filters of a part, parts of a group
  int64_t windows;          ///< pooling windows of an image
  int64_t lists, capacity;  ///< lists of an image and part, gradients of all of them
  int64_t images_at_hand;

  FilterCuts(const Planes& planes, int threads) {
    const int64_t bytes = planes.filter_size * int64_t(sizeof(float)), all = planes.g.conv.filters;
    const int64_t most = std::max(kWeightBytes / bytes, kListed * planes.g.places());
    parts = divide_up(all, std::min(most, all));
    filters = divide_up(all, parts);
    windows = planes.g.pool.P * planes.g.pool.Q;
    lists = windows * planes.g.places();
    capacity = windows * filters + cpu::vector_floats();
    const int64_t list_bytes =
        planes.g.conv.groups * parts *
        (capacity * int64_t(sizeof(float) + sizeof(int32_t)) + lists * int64_t(sizeof(cpu::GradientList)));
    images_at_hand = std::min(planes.g.conv.N, std::max<int64_t>(kListBytes / list_bytes, threads));
  }
  /// Part of a group's filters.
  Range part(int64_t i, int64_t all) const {
    return {std::min(i * filters, all), std::min((i + 1) * filters, all)};
  }
};

/// The gradients of the images at hand, place by place.
class PlaceLists {
 public:
  PlaceLists(const Call& call, const Planes& planes, int threads)
      : planes_(planes), cuts_(planes, threads), dy_(call.input(0)), choice_(call.input(1)) {
    const int64_t all = cuts_.images_at_hand * parts();
    lists_ = call.workspace<cpu::GradientList>(all * cuts_.lists);
    values_ = call.workspace<float>(all * cuts_.capacity);
    offsets_ = call.workspace<int32_t>(all * cuts_.capacity);
    counts_ = call.workspace<int64_t>(all);
    rows_size_ = cuts_.windows * cuts_.filters;
    dy_rows_ = call.workspace<float>(threads * rows_size_);
    choice_rows_ = call.workspace<uint8_t>(threads * rows_size_);
  }

  const FilterCuts& cuts() const { return cuts_; }

  /// Pieces of the work of listing so many images.
  int64_t pieces(int64_t images) const { return images * parts(); }
  /// Lists a piece of the images from `first` on; calls at the same time name different threads.
  void list(int64_t first, int64_t piece, int64_t thread) const {
    const int64_t n = first + piece / parts(), group = piece % parts() / cuts_.parts;
    const Range part = cuts_.part(piece % cuts_.parts, planes_.g.conv.filters);
    if (part.size() == 0) {
      counts_[piece] = 0;
      return;
    }
    const int64_t k = group * planes_.g.conv.filters + part.begin;
    const auto dy = rows_of(dy_, n, k, part.size(), dy_rows_ + thread * rows_size_);
    const auto choice = rows_of(choice_, n, k, part.size(), choice_rows_ + thread * rows_size_);
    list_places(piece, part.size(), dy, choice);
  }
  /// Adds what the lists of an image at hand name in the weights of a block's filters to the image's plane.
  void add(int64_t at, int64_t group, int64_t part, const float* weights, float* plane) const {
    const int64_t piece = at * parts() + group * cuts_.parts + part;
    cpu::add_windows(counts_[piece], lists_ + piece * cuts_.lists, values_ + piece * cuts_.capacity,
                     offsets_ + piece * cuts_.capacity, planes_.window,
                     weights + part * cuts_.filters * planes_.filter_size, planes_.filter_steps, plane,
                     planes_.steps);
  }

 private:
  int64_t parts() const { return planes_.g.conv.groups * cuts_.parts; }

  /// A row of filters for every pooling window.
  template <class T>
  struct Rows {
    const T* first;
    int64_t step;
  };

  /// The rows of image n as they lie, or transposed into `scratch`.
  template <class T>
  Rows<T> rows_of(const TensorView& view, int64_t n, int64_t k, int64_t filters, T* scratch) const {
    const int64_t K = planes_.g.conv.K, windows = cuts_.windows;
    if (view.channels_last()) return {view.as<T>() + n * windows * K + k, K};
    cpu::transpose(filters, windows, view.as<T>() + (n * K + k) * windows, windows, scratch, filters);
    return {scratch, filters};
  }

  void list_places(int64_t piece, int64_t filters, const Rows<float>& dy, const Rows<uint8_t>& choice) const {
    const Pool2dGeometry& pool = planes_.g.pool;
    float* values = values_ + piece * cuts_.capacity;
    int32_t* offsets = offsets_ + piece * cuts_.capacity;
    cpu::GradientList* list = lists_ + piece * cuts_.lists;
    int64_t end = 0;
    for (int64_t window = 0; window < cuts_.windows; ++window)
      for (int64_t choose = 0; choose < planes_.g.places(); ++choose) {
        const ChosenPlace place = chosen_place(pool, window / pool.Q, window % pool.Q, uint8_t(choose));
        if (place.row < 0) continue;
        const int64_t count =
            cpu::list_of_place(filters, dy.first + window * dy.step, choice.first + window * choice.step,
                               uint8_t(choose), int32_t(planes_.filter_size), values + end, offsets + end);
        *list = {end, end + count, planes_.offset(place.row, place.column)};
        end += count, list += count > 0;
      }
    counts_[piece] = list - (lists_ + piece * cuts_.lists);
  }

  const Planes& planes_;
  FilterCuts cuts_;
  TensorView dy_, choice_;
  cpu::GradientList* lists_;
  float *values_, *dy_rows_;
  int32_t* offsets_;
  int64_t* counts_;
  uint8_t* choice_rows_;
  int64_t rows_size_;
};

class InputGradient {
 public:
  InputGradient(const Call& call, const Planes& planes)
      : planes_(planes),
        threads_(num_threads()),
        lists_(call, planes, threads_),
        images_(std::clamp<int64_t>(planes.g.conv.N / (4 * threads_), 1, kImages)),
        runs_(planes, images_),
        w_(call.input(2).as<float>()),
        dx_(call.output().as<float>()),
        weights_(call.workspace<float>(runs_.filters_size())),
        scratch_(call.workspace<float>(threads_ * runs_.plane_size)) {}

  void run() {
    const int64_t N = planes_.g.conv.N, blocks = planes_.g.conv.groups * planes_.blocks;
    for (int64_t first = 0; first < N; first += lists_.cuts().images_at_hand) {
      const Range images{first, std::min(first + lists_.cuts().images_at_hand, N)};
      const int64_t pieces = lists_.pieces(images.size()),
                    products = pieces * lists_.cuts().capacity * planes_.blocks * planes_.filter_size;
      // The weights are laid out anew beside the first lists.
      const int64_t first_piece = first == 0 ? blocks : 0;
      for_each_item(threads_, first_piece + pieces, products, [&](int64_t thread, int64_t i) {
        if (i < first_piece)
          gather_weights(planes_.block(i / planes_.blocks, i % planes_.blocks));
        else
          lists_.list(images.begin, i - first_piece, thread);
      });
      const int64_t chunks = divide_up(images.size(), images_);
      for_each_item(threads_, chunks * runs_.count(), products, [&](int64_t thread, int64_t item) {
        const int64_t chunk = item / runs_.count() * images_;
        add_chunk(images.begin, {chunk, std::min(chunk + images_, images.size())}, item % runs_.count(),
                  scratch_ + thread * runs_.plane_size);
      });
    }
  }

 private:
  static constexpr int64_t kImages = 4;  ///< that are worked on while weights stay near

  void gather_weights(const ChannelBlock& block) const {
    float* to = weights_ + runs_.filters_of(block);
    std::fill_n(to, planes_.g.conv.filters * planes_.filter_size, 0.0f);
    for (int64_t k = 0; k < planes_.g.conv.filters; ++k)
      planes_.gather_taps(block, w_ + runs_.taps_of(block, k), to + k * planes_.filter_size);
  }

  /// dx of a run of blocks in the images first + chunk, where `chunk` are numbers of images at hand.
  void add_chunk(int64_t first, Range chunk, int64_t run, float* scratch) const {
    std::fill_n(scratch, runs_.plane_size, 0.0f);
    runs_.for_each_block(run, [&](const ChannelBlock& block, int64_t i) {
      for (int64_t part = 0; part < lists_.cuts().parts; ++part)
        for (int64_t at = chunk.begin; at < chunk.end; ++at)
          lists_.add(at, block.group, part, weights_ + runs_.filters_of(block),
                     scratch + i * runs_.block_size + (at - chunk.begin) * planes_.size);
    });
    runs_.for_each_block(run, [&](const ChannelBlock& block, int64_t i) {
      for (int64_t at = chunk.begin; at < chunk.end; ++at)
        planes_.scatter(block, first + at, scratch + i * runs_.block_size + (at - chunk.begin) * planes_.size,
                        dx_);
    });
  }

  const Planes& planes_;
  const int threads_;
  PlaceLists lists_;
  int64_t images_;  ///< of a chunk
  BlockRuns runs_;
  const float* w_;
  float *dx_, *weights_, *scratch_;
};

void run(const Call& call) {
  const auto g = make_conv2d_max_pool2d_geometry(call.output(), call.input(2), call.input(0),
                                                 call.options<Conv2dMaxPool2dInputGradientOptions>());
  if (has_no_products(g)) {
    std::fill_n(call.output().as<float>(), g.conv.x.numel(), 0.0f);
    return;
  }
  const Planes planes(g);
  InputGradient(call, planes).run();
}

bool takes(const Call& call) {
  return call.input(0).dtype == DType::f32 && is_row_major_or_channels_last(call.input(0)) &&
         is_row_major_or_channels_last(call.input(1)) && call.input(2).contiguous() &&
         fits_planes(call.output(), call.options<Conv2dMaxPool2dInputGradientOptions>());
}

}  // namespace

namespace ops {

void register_conv2d_max_pool2d_cpu_listed_input_gradient(Registry& registry) {
  add_variant(registry, "conv2d_max_pool2d_input_gradient",
              {.name = "listed",
               .device = DeviceKind::cpu,
               .run = run,
               .when = takes,
               .preference = 10,
               .skips_zeros = true});
}

}  // namespace ops
}  // namespace treadle
