/// conv2d_max_pool2d of 3×3 filters and 2×2 windows by Winograd's F(2×2, 3×3); Lavin and Gray, Fast
/// Algorithms for Convolutional Neural Networks, 2016.
///
/// The four results that a window is the largest of are one output tile, Aᵀ[(G w Gᵀ) ⊙ (Bᵀ d B)]A, where d is
/// the 4×4 patch of x under them. Summed over channels, that is 16 matrix products, one for each element of
/// the transformed tile: 16 products instead of 36 for a window, filter and channel.
#include "treadle/ops/conv2d/cuda/conv2d_taps.cuh"
#include "treadle/ops/conv2d_max_pool2d/cuda/conv2d_max_pool2d.cuh"

namespace treadle::TREADLE_TARGET {
namespace {

constexpr int kElements = 16;                ///< of a transformed tile
constexpr int kWindows = 32, kFilters = 32;  ///< of a block
constexpr int kStep = 8;                     ///< channels at once
constexpr int kHalf = kFilters / 2;          ///< filters whose products lie in shared memory at once
/// Between rows of 32 windows. Rows stay aligned to 16 bytes, and a warp's stores of 8 channels × 4 windows
/// hit 32 banks.
constexpr int kPitch = kWindows + 4;
constexpr int kInputFloats = kElements * kStep * kPitch;
constexpr int kFilterFloats = kElements * kStep * kFilters;
constexpr int kProductFloats = kElements * kHalf * kPitch;
constexpr int kSharedFloats =
    kInputFloats + kFilterFloats > kProductFloats ? kInputFloats + kFilterFloats : kProductFloats;
static_assert(kWindows * kStep == kThreads, "each thread transforms one patch per step");

struct WinogradProblem {
  ConvPoolOperands<float> in;
  const float* filters;                ///< transformed: [16, channels up to a step, filters up to a block]
  int windows, channels, all_filters;  ///< the last two rounded up
};

/// t = Bᵀ·d for one column, in place.
__device__ inline void transform_input(float& d0, float& d1, float& d2, float& d3) {
  const float t0 = d0 - d2, t1 = d1 + d2, t2 = d2 - d1, t3 = d1 - d3;
  d0 = t0, d1 = t1, d2 = t2, d3 = t3;
}

/// Thread i owns channel i / filters and filter i % filters of the rounded sizes: u = G·w·Gᵀ, 0 outside.
/// Reads 36 bytes, writes 64.
__global__ void conv2d_max_pool2d_winograd_filters(Conv2dGeometry g, const float* w, int channels,
                                                   int all_filters, float* filters) {
  const int i = int(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= channels * all_filters) return;
  const int c = i / all_filters, k = i % all_filters;
  const bool exists = c < g.channels && k < g.K;
  float rows[4][3];
  UNROLL(3)
  for (int s = 0; s < 3; ++s) {
    const float w0 = exists ? w[g.w.at(k, c, 0, s)] : 0, w1 = exists ? w[g.w.at(k, c, 1, s)] : 0,
                w2 = exists ? w[g.w.at(k, c, 2, s)] : 0;
    rows[0][s] = w0, rows[1][s] = 0.5f * (w0 + w1 + w2), rows[2][s] = 0.5f * (w0 - w1 + w2), rows[3][s] = w2;
  }
  UNROLL(4)
  for (int r = 0; r < 4; ++r) {
    const float w0 = rows[r][0], w1 = rows[r][1], w2 = rows[r][2];
    const float u[4] = {w0, 0.5f * (w0 + w1 + w2), 0.5f * (w0 - w1 + w2), w2};
    UNROLL(4)
    for (int s = 0; s < 4; ++s) filters[(r * 4 + s) * channels * all_filters + i] = u[s];
  }
}

/// The 4×4 patch of x under one window.
struct Patch {
  int64_t offset;   ///< of its first element in channel 0
  unsigned inside;  ///< bit 4·i + j: whether element (i, j) is inside x
};

__device__ inline Patch patch_under(const WinogradProblem& problem, int window) {
  if (window >= problem.windows) return {0, 0};
  const Conv2dGeometry& g = problem.in.g.conv;
  const Pool2dGeometry& pool = problem.in.g.pool;
  const Place at = place_at(window, int(pool.P), int(pool.Q));
  const int64_t h = g.row(pool.row(at.h, 0), 0), v = g.column(pool.column(at.w, 0), 0);
  unsigned inside = 0;
  for (int i = 0; i < 16; ++i) inside |= unsigned(g.inside(h + i / 4, v + i % 4)) << i;
  return {g.x.at(at.n, 0, h, v), inside};
}

/// input[16][c][window] = Bᵀ·d·B of one channel. Reads 64 bytes.
__device__ inline void load_patch(const WinogradProblem& problem, const Patch& patch, int channel,
                                  float* input) {
  const Operand4& x = problem.in.g.conv.x;
  const unsigned inside = channel < problem.in.g.conv.channels ? patch.inside : 0;
  const float* source = problem.in.x + patch.offset + channel * x.strides[1];
  float d[4][4];
  UNROLL(4)
  for (int i = 0; i < 4; ++i) UNROLL(4)
  for (int j = 0; j < 4; ++j)
    d[i][j] = inside >> (i * 4 + j) & 1 ? source[i * x.strides[2] + j * x.strides[3]] : 0.f;
  UNROLL(4) for (int j = 0; j < 4; ++j) transform_input(d[0][j], d[1][j], d[2][j], d[3][j]);
  UNROLL(4) for (int i = 0; i < 4; ++i) transform_input(d[i][0], d[i][1], d[i][2], d[i][3]);
  UNROLL(4)
  for (int i = 0; i < 4; ++i) UNROLL(4)
  for (int j = 0; j < 4; ++j) input[(i * 4 + j) * kStep * kPitch] = d[i][j];
}

/// Begins to copy the step's transformed filters to shared memory: four times 16 bytes per thread.
__device__ inline void load_filters(const WinogradProblem& problem, int first_channel, int first_filter,
                                    float* filters) {
  constexpr int kWide = kFilters / 4;
  UNROLL(4)
  for (int i = 0; i < kFilterFloats / 4 / kThreads; ++i) {
    const int item = i * kThreads + int(threadIdx.x), k = item % kWide * 4, row = item / kWide;
    const int64_t source = int64_t(row / kStep * problem.channels + first_channel + row % kStep);
    copy_async<16>(filters + row * kFilters + k,
                   problem.filters + source * problem.all_filters + first_filter + k);
  }
  copy_async_commit();
}

/// What a thread sums: two elements of the tile × two times four filters × four windows.
using Sums = float[2][2][4][4];

/// Adds a step's products for elements 2·warp and 2·warp + 1: per channel 6 reads of 16 bytes for 64
/// products.
__device__ inline void add_products(Sums& sums, const float* input, const float* filters, int warp,
                                    int filter, int window) {
  for (int c = 0; c < kStep; ++c) UNROLL(2)
  for (int e = 0; e < 2; ++e) {
    const int row = (warp * 2 + e) * kStep + c;
    const float4 d = *reinterpret_cast<const float4*>(input + row * kPitch + window);
    const float windows[4] = {d.x, d.y, d.z, d.w};
    UNROLL(2)
    for (int half = 0; half < 2; ++half) {
      const float4 u = *reinterpret_cast<const float4*>(filters + row * kFilters + half * kHalf + filter);
      const float of_filter[4] = {u.x, u.y, u.z, u.w};
      UNROLL(4)
      for (int i = 0; i < 4; ++i) UNROLL(4)
      for (int j = 0; j < 4; ++j) sums[e][half][i][j] += of_filter[i] * windows[j];
    }
  }
}

/// The largest element of Aᵀ·m·A that is a place of the window; `products` points to element 0 of m.
__device__ inline LargestInWindow<float> largest_in_tile(const Pool2dGeometry& pool, int p, int q,
                                                         const float* products) {
  float columns[2][4];
  UNROLL(4)
  for (int j = 0; j < 4; ++j) {
    float m[4];
    UNROLL(4) for (int i = 0; i < 4; ++i) m[i] = products[(i * 4 + j) * kHalf * kPitch];
    columns[0][j] = m[0] + m[1] + m[2], columns[1][j] = m[1] - m[2] - m[3];
  }
  LargestInWindow<float> best;
  UNROLL(2)
  for (int i = 0; i < 2; ++i) {
    const float* m = columns[i];
    const float results[2] = {m[0] + m[1] + m[2], m[1] - m[2] - m[3]};
    UNROLL(2)
    for (int j = 0; j < 2; ++j)
      if (pool.inside(pool.row(p, i), pool.column(q, j))) best.offer(results[j], i * 2 + j);
  }
  return best;
}

/// Pools 16 filters × 32 windows whose products lie in shared memory; neighbouring threads follow y's
/// innermost axis.
__device__ inline void store_half(const WinogradProblem& problem, const float* products, int first_filter,
                                  int first_window) {
  const Pool2dGeometry& pool = problem.in.g.pool;
  for (int item = int(threadIdx.x); item < kHalf * kWindows; item += kThreads) {
    const bool filters_first = pool.y.channels_last;
    const int filter = filters_first ? item % kHalf : item / kWindows;
    const int window = filters_first ? item / kHalf : item % kWindows;
    if (first_filter + filter >= pool.C || first_window + window >= problem.windows) continue;
    const Place at = place_at(first_window + window, int(pool.P), int(pool.Q));
    problem.in.store(at.n, first_filter + filter, at.h, at.w,
                     largest_in_tile(pool, at.h, at.w, products + filter * kPitch + window));
  }
}

/// Block (i, j) owns windows 32·i … and filters 32·j …. Per step of 8 channels each thread transforms one
/// patch of one channel; warp v multiplies elements 2·v and 2·v + 1 of the tiles. Reads 2 bytes of x and 2 of
/// the transformed filters per window, filter and channel, for 16 products; writes 5 bytes per window and
/// filter.
__global__ void __launch_bounds__(kThreads) conv2d_max_pool2d_winograd(WinogradProblem problem) {
  float* input = dynamic_shared<float>();
  float* filters = input + kInputFloats;
  float* products = input;  // after the last step
  const int thread = int(threadIdx.x), warp = thread / 32, lane = thread % 32;
  const int first_window = int(blockIdx.x) * kWindows, first_filter = int(blockIdx.y) * kFilters;
  const bool channels_first = problem.in.g.conv.x.channels_last;  // neighbouring threads follow x's innermost
  const int my_channel = channels_first ? thread % kStep : thread / kWindows;
  const int my_window = channels_first ? thread / kStep : thread % kWindows;
  const int filter = lane / 8 * 4, window = lane % 8 * 4;
  const Patch patch = patch_under(problem, first_window + my_window);

  Sums sums = {};
  for (int c = 0; c < problem.channels; c += kStep) {
    load_filters(problem, c, first_filter, filters);
    load_patch(problem, patch, c + my_channel, input + my_channel * kPitch + my_window);
    copy_async_wait<0>();
    __syncthreads();
    add_products(sums, input, filters, warp, filter, window);
    __syncthreads();
  }

  UNROLL(2)
  for (int half = 0; half < 2; ++half) {
    UNROLL(2)
    for (int e = 0; e < 2; ++e) UNROLL(4)
    for (int i = 0; i < 4; ++i) {
      const float* s = sums[e][half][i];
      float* row = products + ((warp * 2 + e) * kHalf + filter + i) * kPitch;
      *reinterpret_cast<float4*>(row + window) = make_float4(s[0], s[1], s[2], s[3]);
    }
    __syncthreads();
    store_half(problem, products, first_filter + half * kHalf, first_window);
    __syncthreads();
  }
}

int rounded_up(int64_t count, int multiple) { return int((count + multiple - 1) / multiple * multiple); }

void run_winograd(const Call& call) {
  const auto in = conv_pool_operands<float>(call);
  const Pool2dGeometry& pool = in.g.pool;
  const int channels = rounded_up(in.g.conv.channels, kStep), filters = rounded_up(in.g.conv.K, kFilters);
  float* transformed = call.workspace<float>(int64_t(kElements) * channels * filters);
  const WinogradProblem problem{in, transformed, int(pool.N * pool.P * pool.Q), channels, filters};
  launch<conv2d_max_pool2d_winograd_filters, independent>(stream_of(call),
                                                          blocks_for(int64_t(channels) * filters), kThreads,
                                                          0, in.g.conv, in.w, channels, filters, transformed);
  const dim3 grid(blocks_for(problem.windows, kWindows), unsigned(filters / kFilters));
  launch<conv2d_max_pool2d_winograd>(stream_of(call), grid, kThreads, kSharedFloats * sizeof(float), problem);
}

/// With fewer channels most of a step would be empty.
constexpr int64_t kFewestChannels = 4;

bool takes(const Call& call) {
  const auto& o = call.options<Conv2dMaxPool2dOptions>();
  const Shape& w = call.input(1).shape;
  const bool form =
      w[2] == 3 && w[3] == 3 && o.stride == 1 && o.dilation == 1 && o.groups == 1 && o.pool_kernel == 2;
  const int64_t transformed = (w[0] + kFilters) * (w[1] + kStep);
  return form && call.input(0).dtype == DType::f32 && fits_32_bits(call) && transformed < 1 << 26 &&
         w[0] <= 65535 * kFilters && w[1] >= kFewestChannels;
}

}  // namespace

/// The error's growth: where all elements of a patch and of a filter have one size, the sizes of what is
/// added for a result are (8/3)² times those of the direct sum.
void register_conv2d_max_pool2d_cuda_winograd(Registry& registry) {
  add_variant(registry, "conv2d_max_pool2d",
              {.name = "winograd",
               .device = kDevice,
               .run = run_winograd,
               .when = takes,
               .preference = 20,
               .error_growth = 64.0 / 9,
               .rung = 3,
               .idea = "a window is a tile of 2×2 results, which 16 products make, not 36"});
}

}  // namespace treadle::TREADLE_TARGET
