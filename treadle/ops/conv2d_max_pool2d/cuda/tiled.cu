/// conv2d_max_pool2d as a matrix product that is pooled in registers: as conv2d's implicit_gemm, with the
/// places of a pooling window as neighbouring rows. The convolution's result is never written.
///
///   rows: windows n, p, q and their places      columns: filters      depth: channels, r, s
#include "treadle/ops/conv2d/cuda/conv2d_taps.cuh"
#include "treadle/ops/conv2d_max_pool2d/cuda/conv2d_max_pool2d.cuh"

namespace treadle::TREADLE_TARGET {
namespace {

constexpr int kSide = 16;    ///< windows per block; threads along each side of the tile
constexpr int kPlaces = 4;   ///< places of a window that are computed at once
constexpr int kFilters = 4;  ///< filters per thread
constexpr int kDepth = kSide;
constexpr int kTile = kSide * kFilters;  ///< rows, and columns, of the product at once
static_assert(kPlaces == kFilters, "both operands' tiles have the same size");
constexpr int kPitch = kTile + 2;  ///< a warp stores 16 depths of 2 rows into 32 banks

template <class T>
struct PooledProduct {
  ConvPoolOperands<T> in;
  int windows, columns, depth, places;

  /// One place of a window.
  struct Row {
    int64_t x_offset;
    int h, w;
    bool exists;
  };
  struct Depth {
    int64_t x_offset, w_offset;
    int h, w;
  };

  __device__ Row row(int group, int window, int place) const {
    const Pool2dGeometry& pool = in.g.pool;
    const Conv2dGeometry& g = in.g.conv;
    if (window >= windows || place >= places) return {0, 0, 0, false};
    const Place at = place_at(window, int(pool.P), int(pool.Q));
    const ChosenPlace result = chosen_place(pool, at.h, at.w, uint8_t(place));
    const int h = int(g.row(result.row, 0)), v = int(g.column(result.column, 0));
    return {g.x.at(at.n, group * g.channels, h, v), h, v, result.row >= 0};
  }
  __device__ Depth at_depth(int index) const {
    const Conv2dGeometry& g = in.g.conv;
    const Tap tap = tap_at(g, index, int(g.channels), g.x.channels_last);
    const int h = tap.r * int(g.dilation.height), v = tap.s * int(g.dilation.width);
    return {g.x.at(0, tap.feature, h, v), g.w.at(0, tap.feature, tap.r, tap.s), h, v};
  }
  __device__ Compute<T> left(const Row& row, const Depth& d) const {
    const bool inside = row.exists && in.g.conv.inside(row.h + d.h, row.w + d.w);
    return inside ? Compute<T>(in.x[row.x_offset + d.x_offset]) : Compute<T>(0);
  }
  __device__ Compute<T> right(int64_t w_offset, const Depth& d) const {
    return Compute<T>(in.w[w_offset + d.w_offset]);
  }
};

/// Block (i, j, group) owns 16 windows × 64 filters of the group, thread (tx, ty) window ty and filters tx +
/// 16·b. Four places at a time it makes 64 × 64 elements of the convolution's result, of which each thread
/// keeps the largest. Per 16 terms a thread reads 8 elements and 64 bytes of shared memory for 256 products;
/// it writes 5 bytes (f32) per window and filter.
template <class T>
__global__ void __launch_bounds__(kSide* kSide) conv2d_max_pool2d_tiled(PooledProduct<T> product) {
  using C = Compute<T>;
  C* left = dynamic_shared<C>();
  C* right = left + kDepth * kPitch;
  const int tx = int(threadIdx.x) % kSide, ty = int(threadIdx.x) / kSide;
  const int group = int(blockIdx.z), window = int(blockIdx.x) * kSide + ty;
  const int first_filter = int(blockIdx.y) * kTile;
  const Conv2dGeometry& g = product.in.g.conv;

  LargestInWindow<C> best[kFilters];
  for (int first_place = 0; first_place < product.places; first_place += kPlaces) {
    typename PooledProduct<T>::Row rows[kPlaces];
    UNROLL(4) for (int a = 0; a < kPlaces; ++a) rows[a] = product.row(group, window, first_place + a);
    C sums[kPlaces][kFilters] = {};
    for (int step = 0; step < product.depth; step += kDepth) {
      const bool inside = step + tx < product.depth;
      const auto depth = product.at_depth(inside ? step + tx : 0);
      UNROLL(4)
      for (int a = 0; a < kPlaces; ++a) {
        const int filter = first_filter + ty + a * kSide, at = tx * kPitch + ty + a * kSide;
        left[at] = inside ? product.left(rows[a], depth) : C(0);
        right[at] = inside && filter < product.columns
                        ? product.right(g.w.at(group * g.filters + filter, 0, 0, 0), depth)
                        : C(0);
      }
      __syncthreads();
      UNROLL(16)
      for (int k = 0; k < kDepth; ++k) UNROLL(4)
      for (int a = 0; a < kPlaces; ++a) UNROLL(4)
      for (int b = 0; b < kFilters; ++b)
        sums[a][b] += left[k * kPitch + ty + a * kSide] * right[k * kPitch + tx + b * kSide];
      __syncthreads();
    }
    UNROLL(4)
    for (int a = 0; a < kPlaces; ++a) UNROLL(4)
    for (int b = 0; b < kFilters; ++b)
      if (rows[a].exists) best[b].offer(sums[a][b], first_place + a);
  }

  if (window >= product.windows) return;
  const Place at = place_at(window, int(product.in.g.pool.P), int(product.in.g.pool.Q));
  UNROLL(4)
  for (int b = 0; b < kFilters; ++b) {
    const int filter = first_filter + tx + b * kSide;
    if (filter < product.columns) product.in.store(at.n, group * g.filters + filter, at.h, at.w, best[b]);
  }
}

void run_tiled(const Call& call) {
  with_floating_device_type(call.input(0).dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto in = conv_pool_operands<T>(call);
    const Pool2dGeometry& pool = in.g.pool;
    const PooledProduct<T> product{in, int(pool.N * pool.P * pool.Q), int(in.g.conv.filters),
                                   int(in.g.conv.taps()), int(in.g.places())};
    const dim3 grid(blocks_for(product.windows, kSide), blocks_for(product.columns, kTile),
                    unsigned(in.g.conv.groups));
    launch<conv2d_max_pool2d_tiled<T>>(stream_of(call), grid, kSide * kSide,
                                       2 * kDepth * kPitch * sizeof(Compute<T>), product);
  });
}

/// Windows are counted in 32 bits, groups are blocks; a window of one place would leave most rows empty.
bool takes(const Call& call) {
  const auto& options = call.options<Conv2dMaxPool2dOptions>();
  const int64_t filters = call.output().shape[1] / options.groups;
  return fits_32_bits(call) && options.groups <= 1024 && filters >= 4 && filters <= 65535 * kTile &&
         options.pool_kernel.height * options.pool_kernel.width > 1;
}

}  // namespace

void register_conv2d_max_pool2d_cuda_tiled(Registry& registry) {
  add_variant(
      registry, "conv2d_max_pool2d",
      {.name = "tiled",
       .device = kDevice,
       .run = run_tiled,
       .when = takes,
       .preference = 10,
       .rung = 2,
       .idea = "a product of matrices by tiles, pooled in registers: the convolution is never written"});
}

}  // namespace treadle::TREADLE_TARGET
