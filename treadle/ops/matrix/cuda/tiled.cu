/// matmul and linear by register tiles in two directions: a thread makes 4×4 results.
///
/// Of a strip, each element of a still meets one element of b. In a patch of 4×4 each of 4 elements of a
/// meets each of 4 of b: 8 reads of shared memory for 16 products, half a read each, where a strip of 8 takes
/// 9/8. This rung takes any strides, dtypes and extents, so it is what a product gets that no later rung
/// takes. Volkov and Demmel, Benchmarking GPUs to Tune Dense Linear Algebra, 2008.
#include "treadle/ops/matrix/cuda/matrices.cuh"
#include "treadle/ops/matrix/cuda/multiply.cuh"

namespace treadle::TREADLE_TARGET {
namespace {

constexpr int kTile = 32;              ///< rows and columns of c that a block makes
constexpr int kDepth = 32;             ///< steps along K that lie in shared memory at once
constexpr int kPatch = 4;              ///< rows and columns of c that a thread makes
constexpr int kSide = kTile / kPatch;  ///< threads along each side of the tile
constexpr int kTileThreads = kSide * kSide;

/// kDepth × kTile elements. Rows are padded by one patch: aligned for wide loads, and columns spread over the
/// banks.
template <class T>
using SharedTile = Compute<T>[kDepth][kTile + kPatch];

/// Copies a tile whose elements are `along` apart across c and `deep` apart along K; zeros beyond the given
/// room. Neighbouring threads follow the shorter stride, so that both a matrix and its transpose are read in
/// whole sectors.
template <class T>
__device__ void load_tile(SharedTile<T>& tile, const T* source, int64_t along, int64_t deep,
                          int64_t room_along, int64_t room_deep) {
  const bool deep_first = deep < along;
  for (int i = threadIdx.x; i < kTile * kDepth; i += kTileThreads) {
    const int fast = i % kTile, slow = i / kTile;
    const int d = deep_first ? fast : slow, t = deep_first ? slow : fast;
    const bool inside = d < room_deep && t < room_along;
    tile[d][t] = inside ? static_cast<Compute<T>>(source[d * deep + t * along]) : Compute<T>(0);
  }
}

template <class T>
using Patch = Compute<T>[kPatch][kPatch];

/// Adds the products of two tiles to the patch at (row, column): 2·kPatch shared reads for kPatch²
/// multiply-adds.
template <class T>
__device__ void add_products(Patch<T>& sums, const SharedTile<T>& a, const SharedTile<T>& b, int row,
                             int column) {
  for (int d = 0; d < kDepth; ++d) {
    UNROLL(4) for (int i = 0; i < kPatch; ++i) {
      UNROLL(4) for (int j = 0; j < kPatch; ++j) sums[i][j] += a[d][row + i] * b[d][column + j];
    }
  }
}

/// A block makes a 32×32 tile of c, each of its 64 threads a 4×4 patch in registers. Tiles of a and b pass
/// through shared memory, so each element is read from global memory once per block: 2·K/32 elements for one
/// result.
template <class T>
__global__ void __launch_bounds__(kTileThreads) matmul_tiled(MatrixProduct p, TileGrid grid) {
  static_assert(kTile == kDepth, "load_tile gives both the same index range");
  __shared__ __align__(16) SharedTile<T> a_tile;
  __shared__ __align__(16) SharedTile<T> b_tile;
  const int64_t n0 = grid.column(), m0 = grid.row();
  const Matrices<T> x(p, grid.batch());
  const T *a = x.a + m0 * p.a_row, *b = x.b + n0 * p.b_column;
  const int row = threadIdx.x / kSide * kPatch, column = threadIdx.x % kSide * kPatch;
  Patch<T> sums{};
  for (int64_t k = 0; k < p.K; k += kDepth) {
    load_tile<T>(a_tile, a + k * p.a_column, p.a_row, p.a_column, p.M - m0, p.K - k);
    load_tile<T>(b_tile, b + k * p.b_row, p.b_column, p.b_row, p.N - n0, p.K - k);
    __syncthreads();
    add_products<T>(sums, a_tile, b_tile, row, column);
    __syncthreads();
  }
  UNROLL(4) for (int i = 0; i < kPatch; ++i) {
    UNROLL(4) for (int j = 0; j < kPatch; ++j) {
      const int64_t m = m0 + row + i, n = n0 + column + j;
      if (m < p.M && n < p.N)
        x.c[m * p.c_row + n * p.c_column] = static_cast<T>(sums[i][j] + bias_of(x.bias, n * p.bias_step));
    }
  }
}

}  // namespace

void multiply_tiled(stream_t stream, const MatrixProduct& p) {
  const TileGrid grid(p, kTile, kTile);
  with_floating_device_type(p.dtype, [&](auto tag) {
    launch<matmul_tiled<typename decltype(tag)::type>>(stream, grid.blocks(p), kTileThreads, 0, p, grid);
  });
}

void register_matrix_cuda_tiled(Registry& registry) {
  add_product_variant(
      registry,
      {.name = "tiled",
       .run = multiply_tiled,
       .preference = 10,
       .rung = 5,
       .idea =
           "a thread makes 4×4 results: 8 reads of shared memory serve 16 products; any strides and dtypes"});
}

}  // namespace treadle::TREADLE_TARGET
