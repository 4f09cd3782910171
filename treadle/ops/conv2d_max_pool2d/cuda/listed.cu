/// Gradients of conv2d_max_pool2d that follow the chosen places: of the convolution's result, at most one
/// place per window has a gradient, and none where ReLU was closed. Warps vote on which of 32 candidates have
/// one, and work on those only. Every sum has one order.
#include "treadle/kernels/reduce.h"
#include "treadle/ops/conv2d/cuda/conv2d_taps.cuh"
#include "treadle/ops/conv2d_max_pool2d/cuda/conv2d_max_pool2d.cuh"

namespace treadle::TREADLE_TARGET {
namespace {

constexpr int kWarps = kThreads / kWarp;  ///< of a block
constexpr unsigned kAllLanes = 0xffffffffu;

/// Calls f(lane) for each lane whose `mine` is not zero, in order; all lanes of the warp make all calls.
template <class C, class F>
__device__ void for_each_nonzero(C mine, F f) {
  for (unsigned active = __ballot_sync(kAllLanes, mine != C(0)); active != 0; active &= active - 1)
    f(__ffs(int(active)) - 1);
}

/// Thread i owns element i of w laid out as [tap, filter, channel of the group], so that lanes with
/// neighbouring channels read neighbours. Reads and writes one element.
template <class T>
__global__ void conv2d_max_pool2d_channels_innermost(Conv2dGeometry g, const T* w, Compute<T>* transposed) {
  const int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= g.K * g.channels * g.R * g.S) return;
  const int64_t c = i % g.channels, k = i / g.channels % g.K, tap = i / g.channels / g.K;
  transposed[i] = Compute<T>(w[g.w.at(k, c, tap / g.S, tap % g.S)]);
}

/// Sums of one pixel's channels, spread over a warp: lane l has channels first + l + 32·j.
template <class T, int kPerLane>
struct PixelSums {
  Compute<T> sums[kPerLane] = {};

  /// Adds value · w for the channels below `channels`; `w` is the lane's first one's.
  __device__ void add(Compute<T> value, const Compute<T>* w, int channels) {
    UNROLL(4)
    for (int j = 0; j < kPerLane; ++j)
      if (j * kWarp < channels) sums[j] += value * w[j * kWarp];
  }
};

/// A warp owns one pixel of dx and 32·kPerLane channels of a group, blockIdx.z numbering the groups. For all
/// of them together it reads a byte per filter, tap and window that holds the place, and an element of dy
/// where the place was chosen; then, per gradient found, 4 bytes (f32) of w per channel. It writes each
/// element once.
template <class T, int kPerLane>
__global__ void __launch_bounds__(kThreads)
    conv2d_max_pool2d_input_gradient_listed(PooledGradient<T> in, const Compute<T>* w, T* dx) {
  using C = Compute<T>;
  const Conv2dGeometry& g = in.g.conv;
  const Pool2dGeometry& pool = in.g.pool;
  const int lane = int(threadIdx.x) % kWarp, warp = int(threadIdx.x) / kWarp;
  const int64_t pixel = int64_t(blockIdx.x) * kWarps + warp;
  if (pixel >= g.N * g.H * g.W) return;
  const int group = int(blockIdx.z), filters = int(g.filters), first_filter = group * filters;
  const int first_channel = int(blockIdx.y) * kWarp * kPerLane + lane;
  const int channels = int(g.channels) - first_channel;  // that the lane and its right neighbours have
  const Place at = place_at(int(pixel), int(g.H), int(g.W));
  PixelSums<T, kPerLane> dx_of;

  // Adds what place (row, column) of the convolution's result got from one window, through one tap.
  const auto add_window = [&](int tap, int place, int64_t p, int64_t q) {
    for (int k = 0; k < filters; k += kWarp) {
      const int mine = first_filter + k + lane;
      const bool chosen = k + lane < filters && in.chosen(at.n, mine, p, q) == place;
      const C value = chosen ? in.at(at.n, mine, p, q) : C(0);
      for_each_nonzero(value, [&](int source) {
        const int64_t filter = int64_t(tap) * g.K + first_filter + k + source;
        dx_of.add(__shfl_sync(kAllLanes, value, source), w + filter * g.channels + first_channel, channels);
      });
    }
  };
  for (int tap = 0; tap < g.R * g.S; ++tap) {
    const int64_t row = g.window_of_row(at.h, tap / g.S), column = g.window_of_column(at.w, tap % g.S);
    for (int place = 0; place < pool.R * pool.S && row >= 0 && column >= 0; ++place) {
      const int64_t p = pool.window_of_row(row, place / pool.S);
      const int64_t q = pool.window_of_column(column, place % pool.S);
      if (p >= 0 && q >= 0) add_window(tap, place, p, q);
    }
  }

  UNROLL(4)
  for (int j = 0; j < kPerLane; ++j)
    if (j * kWarp < channels)
      dx[g.x.at(at.n, group * g.channels + first_channel + j * kWarp, at.h, at.w)] = T(dx_of.sums[j]);
}

/// A window's gradient, and where its patch of x lies.
template <class C>
struct SparseElement {
  C value;         ///< 0: none
  int h, w;        ///< of the patch's first element; may lie outside x
  int64_t offset;  ///< of the patch's first element in the group's first channel
};

template <class T>
__device__ SparseElement<Compute<T>> element_of(const PooledGradient<T>& in, int k, int window) {
  const Conv2dGeometry& g = in.g.conv;
  const Pool2dGeometry& pool = in.g.pool;
  const Place at = place_at(window, int(pool.P), int(pool.Q));
  const ChosenPlace place = chosen_place(pool, at.h, at.w, uint8_t(in.chosen(at.n, k, at.h, at.w)));
  if (place.row < 0) return {0, 0, 0, 0};
  const int h = int(g.row(place.row, 0)), w = int(g.column(place.column, 0));
  return {in.at(at.n, k, at.h, at.w), h, w, g.x.at(at.n, k / int(g.filters) * g.channels, h, w)};
}

/// Elements of dw of one filter, spread over a warp: lane l has taps first + l + 32·j.
template <class T, int kPerLane>
struct TapSums {
  Compute<T> sums[kPerLane] = {};
  int64_t x_offset[kPerLane], dw_offset[kPerLane];
  int h[kPerLane], w[kPerLane];

  __device__ TapSums(const Conv2dGeometry& g, int first) {
    constexpr int kNowhere = -(1 << 30);  // a row outside of every x
    UNROLL(8)
    for (int j = 0; j < kPerLane; ++j) {
      const int index = first + j * kWarp;
      const bool exists = index < g.channels * g.R * g.S;
      const Tap tap = tap_at(g, exists ? index : 0, int(g.channels), g.x.channels_last);
      h[j] = exists ? tap.r * int(g.dilation.height) : kNowhere;
      w[j] = tap.s * int(g.dilation.width);
      x_offset[j] = g.x.at(0, tap.feature, h[j], w[j]);
      dw_offset[j] = exists ? (tap.feature * g.R + tap.r) * g.S + tap.s : -1;
    }
  }
  __device__ void add(const Conv2dGeometry& g, const T* x, const SparseElement<Compute<T>>& element) {
    UNROLL(8)
    for (int j = 0; j < kPerLane; ++j)
      if (g.inside(element.h + h[j], element.w + w[j]))
        sums[j] += element.value * Compute<T>(x[element.offset + x_offset[j]]);
  }
};

/// Sums of one split of the windows: [K, taps] for dw, then [K] for db.
struct SplitLayout {
  int64_t taps, filters;
  TREADLE_DEVICE int64_t size() const { return filters * (taps + 1); }
};

/// A warp owns 32·kPerLane taps of filter 8·blockIdx.x + warp, and the windows of split blockIdx.z. It reads
/// 5 bytes (f32) per window, and for each that has a gradient 4 bytes of x per tap.
template <class T, int kPerLane>
__global__ void __launch_bounds__(kThreads)
    conv2d_max_pool2d_weight_gradient_listed(PooledGradient<T> in, const T* x, int windows,
                                             int windows_per_split, SplitLayout layout, Compute<T>* partial) {
  using C = Compute<T>;
  const Conv2dGeometry& g = in.g.conv;
  const int lane = int(threadIdx.x) % kWarp, k = int(blockIdx.x) * kWarps + int(threadIdx.x) / kWarp;
  if (k >= g.K) return;
  TapSums<T, kPerLane> taps(g, int(blockIdx.y) * kWarp * kPerLane + lane);
  C db = 0;
  const int64_t begin = int64_t(blockIdx.z) * windows_per_split;
  const int64_t end = begin + windows_per_split < windows ? begin + windows_per_split : windows;
  for (int64_t base = begin; base < end; base += kWarp) {
    const bool exists = base + lane < end;
    const auto mine = exists ? element_of(in, k, int(base) + lane) : SparseElement<C>{0, 0, 0, 0};
    db += mine.value;
    for_each_nonzero(mine.value, [&](int source) {
      const SparseElement<C> element{
          __shfl_sync(kAllLanes, mine.value, source), __shfl_sync(kAllLanes, mine.h, source),
          __shfl_sync(kAllLanes, mine.w, source), __shfl_sync(kAllLanes, mine.offset, source)};
      taps.add(g, x, element);
    });
  }

  C* sums = partial + blockIdx.z * layout.size();
  UNROLL(8)
  for (int j = 0; j < kPerLane; ++j)
    if (taps.dw_offset[j] >= 0) sums[k * layout.taps + taps.dw_offset[j]] = taps.sums[j];
  db = warp_reduce(db, Addition<C>());
  if (blockIdx.y == 0 && lane == 0) sums[layout.filters * layout.taps + k] = db;
}

/// Thread i owns element i of dw and db together: adds the splits' sums in order. Reads splits · 4 bytes,
/// writes one element.
template <class T>
__global__ void conv2d_max_pool2d_weight_gradient_add_splits(SplitLayout layout, const Compute<T>* partial,
                                                             int splits, T* dw, T* db) {
  const int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x, of_dw = layout.filters * layout.taps;
  if (i >= layout.size()) return;
  Compute<T> sum = 0;
  for (int split = 0; split < splits; ++split) sum += partial[split * layout.size() + i];
  (i < of_dw ? dw[i] : db[i - of_dw]) = T(sum);
}

template <class T, int kPerLane>
void launch_input_gradient(const Call& call, const PooledGradient<T>& in, const Compute<T>* w) {
  const Conv2dGeometry& g = in.g.conv;
  const dim3 grid(blocks_for(g.N * g.H * g.W, kWarps), blocks_for(g.channels, kWarp * kPerLane),
                  unsigned(g.groups));
  launch<conv2d_max_pool2d_input_gradient_listed<T, kPerLane>>(stream_of(call), grid, kThreads, 0, in, w,
                                                               call.output().as<T>());
}

void run_input_gradient(const Call& call) {
  with_floating_device_type(call.output().dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto in = input_gradient_operands<T>(call);
    const TensorView& w = call.input(2);
    auto* transposed = call.workspace<Compute<T>>(w.numel());
    if (w.numel() > 0)
      launch<conv2d_max_pool2d_channels_innermost<T>, independent>(
          stream_of(call), blocks_for(w.numel()), kThreads, 0, in.g.conv, w.as<T>(), transposed);
    if (in.g.conv.channels <= kWarp)
      launch_input_gradient<T, 1>(call, in, transposed);
    else
      launch_input_gradient<T, 4>(call, in, transposed);
  });
}

/// Splits of the sum over windows: enough warps to fill a large GPU, each with at least 128 windows. The same
/// for every device, so that results do not depend on it.
int splits_for(const Conv2dMaxPool2dGeometry& g, int64_t tap_blocks) {
  const int64_t warps = g.conv.K * tap_blocks, wanted = (4096 + warps - 1) / warps;
  const int64_t possible = g.pool.N * g.pool.P * g.pool.Q / (4 * kWarp);
  return int(wanted < possible ? wanted : possible > 1 ? possible : 1);
}

template <class T, int kPerLane>
void launch_weight_gradient(const Call& call, const PooledGradient<T>& in) {
  const Pool2dGeometry& pool = in.g.pool;
  const SplitLayout layout{in.g.conv.taps(), in.g.conv.K};
  const unsigned tap_blocks = blocks_for(layout.taps, kWarp * kPerLane);
  const int windows = int(pool.N * pool.P * pool.Q), splits = splits_for(in.g, tap_blocks);
  auto* partial = call.workspace<Compute<T>>(splits * layout.size());
  const dim3 grid(blocks_for(layout.filters, kWarps), tap_blocks, unsigned(splits));
  launch<conv2d_max_pool2d_weight_gradient_listed<T, kPerLane>>(
      stream_of(call), grid, kThreads, 0, in, call.input(0).as<T>(), windows, (windows + splits - 1) / splits,
      layout, partial);
  launch<conv2d_max_pool2d_weight_gradient_add_splits<T>, independent>(
      stream_of(call), blocks_for(layout.size()), kThreads, 0, layout, partial, splits,
      call.output(0).as<T>(), call.output(1).as<T>());
}

void run_weight_gradient(const Call& call) {
  with_floating_device_type(call.input(0).dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto in = weight_gradient_operands<T>(call);
    if (in.g.conv.taps() <= kWarp)
      launch_weight_gradient<T, 1>(call, in);
    else
      launch_weight_gradient<T, 8>(call, in);
  });
}

bool takes_input_gradient(const Call& call) {
  const int64_t groups = call.options<Conv2dMaxPool2dInputGradientOptions>().groups;
  const int64_t channels = call.output().shape[1] / groups;
  return fits_32_bits(call) && groups <= 65535 && channels >= 4 && channels <= 65535;
}

bool takes_weight_gradient(const Call& call) {
  const Shape& dw = call.output().shape;
  const int64_t taps = dw[1] * dw[2] * dw[3];
  return fits_32_bits(call) && taps >= 1 && taps <= 65535 * kWarp;
}

}  // namespace

void register_conv2d_max_pool2d_cuda_listed(Registry& registry) {
  auto add = [&](const char* op, void (*run)(const Call&), bool (*when)(const Call&)) {
    add_variant(registry, op,
                {.name = "listed", .device = kDevice, .run = run, .when = when, .preference = 10});
  };
  add("conv2d_max_pool2d_input_gradient", run_input_gradient, takes_input_gradient);
  add("conv2d_max_pool2d_weight_gradient", run_weight_gradient, takes_weight_gradient);
}

}  // namespace treadle::TREADLE_TARGET
