/// The gradients of conv2d_max_pool2d on the cpu device, from the chosen places alone; f32.
///
/// Of each pooling window at most one place has a gradient, and where ReLU is closed none has. These are
/// listed filter by filter; then each adds a window of x to its filter's sums, or its filter's weights to a
/// window of dx. Gradients of 0 are left out, so that infinity and NaN in x or w do not meet them.
#include "treadle/graph/registry.h"
#include "treadle/ops/conv2d_max_pool2d_lists.h"

namespace treadle {
namespace {

constexpr int64_t kGrain = 1 << 14;  ///< multiplications of vectors worth a second thread

/// Calls f(slot, item) for items [0, count), spread over threads; `work` vectors are multiplied in all.
template <class F>
void for_each_item(int64_t count, int64_t work, F f) {
  const int threads = num_threads();
  parallel_for(threads, work < kGrain ? threads : 1, [&](int64_t begin, int64_t end) {
    for (int64_t slot = begin; slot < end; ++slot) {
      const Range items = part_of(count, slot, threads);
      for (int64_t i = items.first; i < items.end; ++i) f(slot, i);
    }
  });
}

/// The blocks of channels, in runs that share cache lines of x, and the planes of a run that a thread works
/// on.
struct BlockRuns {
  static constexpr int64_t kLineFloats = 16;

  const Planes& planes;
  int64_t length, of_group;  ///< blocks of a run, runs of a group
  int64_t block_size, size;  ///< floats of a block's images, and of all

  BlockRuns(const Planes& planes, int64_t images)
      : planes(planes),
        length(std::clamp<int64_t>(kLineFloats / planes.block_channels, 1, planes.blocks)),
        of_group(divide_up(planes.blocks, length)),
        block_size(images * planes.size),
        size(length * block_size + cpu::vector_floats()) {}

  int64_t count() const { return planes.g.conv.groups * of_group; }

  /// Calls f(block, which of the run) for the blocks of a run.
  template <class F>
  void for_each_block(int64_t run, F f) const {
    const int64_t first = run % of_group * length;
    for (int64_t i = 0; i < std::min(length, planes.blocks - first); ++i)
      f(planes.block(run / of_group, first + i), i);
  }
};

/// Where the numbers of a block's filters begin in [group][block][filter].
int64_t first_filter(const Planes& planes, const ChannelBlock& block) {
  return (block.group * planes.blocks + block.index) * planes.g.conv.filters * planes.filter_size();
}
int64_t filters_size(const Planes& planes) {
  return planes.g.conv.groups * planes.blocks * planes.g.conv.filters * planes.filter_size();
}

/// Products of vectors if every window of `chunks` chunks is listed.
int64_t products(const Planes& planes, const GradientListing& listing, int64_t chunks) {
  return listing.pieces(chunks) * listing.cuts().capacity * planes.blocks * planes.filter_size();
}

/// Calls list and then use, each as (first chunk, chunks), for all chunks.
template <class List, class Use>
void for_chunks_at_hand(const BatchCuts& cuts, List list, Use use) {
  for (int64_t first = 0; first < cuts.chunks; first += cuts.chunks_at_hand) {
    const int64_t chunks = std::min(cuts.chunks_at_hand, cuts.chunks - first);
    list(first, chunks);
    use(first, chunks);
  }
}

class WeightGradient {
 public:
  WeightGradient(const Call& call, const Planes& planes)
      : planes_(planes),
        listing_(call, planes, call.input(1), call.input(2)),
        runs_(planes, listing_.cuts().images),
        x_(call.input(0).as<float>()),
        dw_(call.output(0).as<float>()),
        db_(call.output(1).as<float>()),
        sums_(call.workspace<float>(filters_size(planes))),
        scratch_(call.workspace<float>(num_threads() * runs_.size)) {
    // Enough items for the threads to have about as many each; every item copies its channels of x anew.
    while (filter_parts_ < planes.g.conv.filters && runs_.count() * filter_parts_ % num_threads() != 0 &&
           runs_.count() * filter_parts_ < 4 * num_threads())
      ++filter_parts_;
  }

  void run() {
    const BatchCuts& cuts = listing_.cuts();
    for (int64_t first = 0; first < cuts.chunks; first += cuts.chunks_at_hand) {
      const int64_t chunks = std::min(cuts.chunks_at_hand, cuts.chunks - first),
                    work = products(planes_, listing_, chunks);
      for_each_item(listing_.pieces(chunks), work,
                    [&](int64_t slot, int64_t piece) { listing_.list(first, piece, slot); });
      for_each_item(runs_.count() * filter_parts_, work, [&](int64_t slot, int64_t item) {
        add_chunks(first, chunks, item / filter_parts_,
                   part_of(planes_.g.conv.filters, item % filter_parts_, filter_parts_),
                   scratch_ + slot * runs_.size);
      });
    }
    for (int64_t k = 0; k < planes_.g.conv.K; ++k) db_[k] = listing_.sum(k);
  }

 private:
  float* sums_of(const ChannelBlock& block, int64_t filter) const {
    return sums_ + first_filter(planes_, block) + filter * planes_.filter_size();
  }

  void add_chunks(int64_t first, int64_t chunks, int64_t run, Range filters, float* scratch) const {
    std::fill_n(scratch, runs_.size, 0.0f);
    if (first == 0)
      runs_.for_each_block(run, [&](const ChannelBlock& block, int64_t) {
        std::fill(sums_of(block, filters.first), sums_of(block, filters.end), 0.0f);
      });
    for (int64_t at = 0; at < chunks; ++at) add_chunk(first, at, run, filters, scratch);
    if (first + chunks == listing_.cuts().chunks)
      runs_.for_each_block(run, [&](const ChannelBlock& block, int64_t) { finish(block, filters); });
  }

  void add_chunk(int64_t first, int64_t at, int64_t run, Range filters, float* scratch) const {
    const Range images = listing_.cuts().images_of(first + at);
    runs_.for_each_block(run, [&](const ChannelBlock& block, int64_t i) {
      for (int64_t n = images.first; n < images.end; ++n)
        planes_.gather(block, n, x_, scratch + i * runs_.block_size + (n - images.first) * planes_.size);
    });
    runs_.for_each_block(run, [&](const ChannelBlock& block, int64_t i) {
      for (int64_t band = 0; band < listing_.cuts().bands; ++band)
        cpu::add_windows(listing_.lists(at, band, block.group * planes_.g.conv.filters + filters.first),
                         filters.count(), planes_.window, scratch + i * runs_.block_size,
                         sums_of(block, filters.first));
    });
  }

  void finish(const ChannelBlock& block, Range filters) const {
    const Conv2dGeometry& conv = planes_.g.conv;
    for (int64_t k = filters.first; k < filters.end; ++k)
      planes_.scatter_taps(
          block, sums_of(block, k),
          dw_ + conv.w.at(block.group * conv.filters + k, block.first - block.group * conv.channels, 0, 0));
  }

  const Planes& planes_;
  GradientListing listing_;
  BlockRuns runs_;
  const float* x_;
  float *dw_, *db_, *sums_, *scratch_;
  int64_t filter_parts_ = 1;
};

class InputGradient {
 public:
  InputGradient(const Call& call, const Planes& planes)
      : planes_(planes),
        listing_(call, planes, call.input(0), call.input(1)),
        runs_(planes, listing_.cuts().images),
        w_(call.input(2).as<float>()),
        dx_(call.output().as<float>()),
        weights_(call.workspace<float>(filters_size(planes))),
        scratch_(call.workspace<float>(num_threads() * runs_.size)) {}

  void run() {
    const BatchCuts& cuts = listing_.cuts();
    for (int64_t first = 0; first < cuts.chunks; first += cuts.chunks_at_hand) {
      const int64_t chunks = std::min(cuts.chunks_at_hand, cuts.chunks - first),
                    pieces = listing_.pieces(chunks),
                    rows = first == 0 ? planes_.g.conv.groups * planes_.blocks : 0,
                    work = products(planes_, listing_, chunks);
      for_each_item(pieces, work, [&](int64_t slot, int64_t i) { listing_.list(first, i, slot); });
      for_each_item(rows, work,
                    [&](int64_t, int64_t i) { gather_weights(i / planes_.blocks, i % planes_.blocks); });
      for_each_item(chunks * runs_.count(), work, [&](int64_t slot, int64_t item) {
        spread_chunk(first, item / runs_.count(), item % runs_.count(), scratch_ + slot * runs_.size);
      });
    }
  }

 private:
  const float* weights_of(const ChannelBlock& block) const { return weights_ + first_filter(planes_, block); }

  void gather_weights(int64_t group, int64_t index) const {
    const Conv2dGeometry& conv = planes_.g.conv;
    const ChannelBlock block = planes_.block(group, index);
    float* to = weights_ + first_filter(planes_, block);
    std::fill_n(to, conv.filters * planes_.filter_size(), 0.0f);
    for (int64_t k = 0; k < conv.filters; ++k)
      planes_.gather_taps(block,
                          w_ + conv.w.at(group * conv.filters + k, block.first - group * conv.channels, 0, 0),
                          to + k * planes_.filter_size());
  }

  void spread_chunk(int64_t first, int64_t at, int64_t run, float* scratch) const {
    const Range images = listing_.cuts().images_of(first + at);
    std::fill_n(scratch, runs_.size, 0.0f);
    runs_.for_each_block(run, [&](const ChannelBlock& block, int64_t i) {
      for (int64_t band = 0; band < listing_.cuts().bands; ++band)
        cpu::spread_windows(listing_.lists(at, band, block.group * planes_.g.conv.filters),
                            planes_.g.conv.filters, planes_.window, weights_of(block),
                            scratch + i * runs_.block_size);
    });
    runs_.for_each_block(run, [&](const ChannelBlock& block, int64_t i) {
      for (int64_t n = images.first; n < images.end; ++n)
        planes_.scatter(block, n, scratch + i * runs_.block_size + (n - images.first) * planes_.size, dx_);
    });
  }

  const Planes& planes_;
  GradientListing listing_;
  BlockRuns runs_;
  const float* w_;
  float *dx_, *weights_, *scratch_;
};

bool is_empty(const Conv2dMaxPool2dGeometry& g) {
  return g.pool.y.numel() == 0 || g.conv.x.numel() == 0 || g.conv.w.numel() == 0;
}

void run_weight_gradient(const Call& call) {
  const auto g = make_conv2d_max_pool2d_geometry(call.input(0), call.output(), call.input(1),
                                                 call.options<Conv2dMaxPool2dWeightGradientOptions>());
  if (is_empty(g)) {
    std::fill_n(call.output(0).as<float>(), g.conv.w.numel(), 0.0f);
    std::fill_n(call.output(1).as<float>(), g.conv.K, 0.0f);
    return;
  }
  const Planes planes(g);
  WeightGradient(call, planes).run();
}

void run_input_gradient(const Call& call) {
  const auto g = make_conv2d_max_pool2d_geometry(call.output(), call.input(2), call.input(0),
                                                 call.options<Conv2dMaxPool2dInputGradientOptions>());
  if (is_empty(g)) {
    std::fill_n(call.output().as<float>(), g.conv.x.numel(), 0.0f);
    return;
  }
  const Planes planes(g);
  InputGradient(call, planes).run();
}

bool lies_dense(const TensorView& view) { return view.contiguous() || view.channels_last(); }

/// Whether offsets in a plane fit into 32 bits.
bool is_small(const TensorView& x, const Conv2dOptions& o) {
  constexpr int64_t kMost = int64_t(1) << 24;
  return (x.shape[2] + o.padding.top + o.padding.bottom) * (x.shape[3] + o.padding.left + o.padding.right) <
         kMost;
}

bool takes_weight_gradient(const Call& call) {
  return call.input(0).dtype == DType::f32 && lies_dense(call.input(0)) && lies_dense(call.input(1)) &&
         lies_dense(call.input(2)) &&
         is_small(call.input(0), call.options<Conv2dMaxPool2dWeightGradientOptions>());
}

bool takes_input_gradient(const Call& call) {
  return call.input(0).dtype == DType::f32 && lies_dense(call.input(0)) && lies_dense(call.input(1)) &&
         call.input(2).contiguous() &&
         is_small(call.output(), call.options<Conv2dMaxPool2dInputGradientOptions>());
}

}  // namespace

namespace ops {

void register_conv2d_max_pool2d_gradient_cpu(Registry& registry) {
  registry.add_variant("conv2d_max_pool2d_weight_gradient", {.name = "listed",
                                                             .device = DeviceKind::cpu,
                                                             .run = run_weight_gradient,
                                                             .when = takes_weight_gradient,
                                                             .preference = 10});
  registry.add_variant("conv2d_max_pool2d_input_gradient", {.name = "listed",
                                                            .device = DeviceKind::cpu,
                                                            .run = run_input_gradient,
                                                            .when = takes_input_gradient,
                                                            .preference = 10});
}

}  // namespace ops
}  // namespace treadle
