/// matmul and linear of f16 and bf16 on tensor cores, by the fragments of CUDA C++ (wmma).
///
/// A warp multiplies matrices of 16×16 as a whole: one instruction for 4,096 products where its lanes would
/// take 128, with sums in f32. Which lane holds which element is the compiler's matter, so results go through
/// shared memory, where they meet the bias. A block of 4 warps makes a tile of 64×64, a warp 32×32 of it: 4
/// loads of fragments serve 4 products. Rows in shared memory are 16 bytes longer than the tile, so that the
/// 8 rows that a load takes at once lie in different banks. NVIDIA, CUDA C++ Programming Guide, "Warp matrix
/// functions"; Markidis et al., NVIDIA Tensor Core Programmability, Performance & Precision, 2018.
#include "treadle/ops/matrix/cuda/half_product.cuh"

namespace treadle::TREADLE_TARGET {
namespace {

constexpr int kTile = 64;   ///< rows and columns of c for a block
constexpr int kDepth = 32;  ///< steps along K at once
constexpr int kWarps = 4, kBlock = 32 * kWarps;
constexpr int kWarpTile = 32;  ///< rows and columns of c for a warp
constexpr int kSide = 16;      ///< of a fragment
constexpr int kFragments = kWarpTile / kSide;

template <class T>
struct Operands {
  T a[kTile][kDepth + kPiece];
  T b[kDepth][kTile + kPiece];
};

/// Operands while products are summed, results afterwards.
template <class T>
union Shared {
  Operands<T> operands;
  float results[kTile][kTile + 4];
};

template <class T>
__device__ void load_operands(Operands<T>& tiles, const MatrixProduct& p, const Matrices<T>& x,
                              const TileGrid& grid, int64_t k) {
  for (int i = int(threadIdx.x); i < kTile * kDepth / kPiece; i += kBlock) {
    const int row = i / (kDepth / kPiece), depth = i % (kDepth / kPiece) * kPiece;
    const int64_t m = grid.row() + row;
    copy_piece(&tiles.a[row][depth], x.a + m * p.a_row + k + depth, m < p.M && k + depth < p.K);
  }
  for (int i = int(threadIdx.x); i < kDepth * kTile / kPiece; i += kBlock) {
    const int depth = i / (kTile / kPiece), column = i % (kTile / kPiece) * kPiece;
    const int64_t n = grid.column() + column;
    copy_piece(&tiles.b[depth][column], x.b + (k + depth) * p.b_row + n, k + depth < p.K && n < p.N);
  }
  copy_async_commit();
  copy_async_wait<0>();
}

using Sums = wmma::fragment<wmma::accumulator, kSide, kSide, kSide, float>;

/// One step of a warp whose tile begins at (row, column).
template <class T>
__device__ void add_products(Sums (&sums)[kFragments][kFragments], const Operands<T>& tiles, int row,
                             int column) {
  UNROLL(2) for (int d = 0; d < kDepth; d += kSide) {
    wmma::fragment<wmma::matrix_a, kSide, kSide, kSide, T, wmma::row_major> a[kFragments];
    wmma::fragment<wmma::matrix_b, kSide, kSide, kSide, T, wmma::row_major> b[kFragments];
    UNROLL(2) for (int i = 0; i < kFragments; ++i) {
      wmma::load_matrix_sync(a[i], &tiles.a[row + i * kSide][d], kDepth + kPiece);
      wmma::load_matrix_sync(b[i], &tiles.b[d][column + i * kSide], kTile + kPiece);
    }
    UNROLL(2) for (int i = 0; i < kFragments; ++i) {
      UNROLL(2) for (int j = 0; j < kFragments; ++j) wmma::mma_sync(sums[i][j], a[i], b[j], sums[i][j]);
    }
  }
}

template <class T>
__device__ void store_results(const float (&results)[kTile][kTile + 4], const MatrixProduct& p,
                              const Matrices<T>& x, const TileGrid& grid) {
  for (int i = int(threadIdx.x); i < kTile * kTile; i += kBlock) {
    const int64_t m = grid.row() + i / kTile, n = grid.column() + i % kTile;
    if (m < p.M && n < p.N)
      x.c[m * p.c_row + n] = static_cast<T>(results[i / kTile][i % kTile] + bias_of(x.bias, n * p.bias_step));
  }
}

template <class T>
__global__ void __launch_bounds__(kBlock) matmul_wmma(MatrixProduct p, TileGrid grid) {
#if TREADLE_ARCH_AT_LEAST(800)
  auto& shared = *dynamic_shared<Shared<T>>();
  const Matrices<T> x(p, grid.batch());
  const int warp = int(threadIdx.x) / 32, row = warp / 2 * kWarpTile, column = warp % 2 * kWarpTile;
  Sums sums[kFragments][kFragments];
  for (auto& of_row : sums)
    for (auto& sum : of_row) wmma::fill_fragment(sum, 0.f);
  for (int64_t k = 0; k < p.K; k += kDepth) {
    load_operands(shared.operands, p, x, grid, k);
    __syncthreads();
    add_products(sums, shared.operands, row, column);
    __syncthreads();
  }
  for (int i = 0; i < kFragments; ++i)
    for (int j = 0; j < kFragments; ++j)
      wmma::store_matrix_sync(&shared.results[row + i * kSide][column + j * kSide], sums[i][j], kTile + 4,
                              wmma::mem_row_major);
  __syncthreads();
  store_results(shared.results, p, x, grid);
#endif
}

void run(stream_t stream, const MatrixProduct& p) {
  const TileGrid grid(p, kTile, kTile);
  with_half_type(p.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    launch<matmul_wmma<T>>(stream, grid.blocks(p), kBlock, sizeof(Shared<T>), p, grid);
  });
}

}  // namespace

void register_matrix_cuda_wmma(Registry& registry) {
  add_product_variant(registry, {.name = "wmma",
                                 .run = run,
                                 .when = is_of_halves,
                                 .preference = -1,
                                 .rung = 10,
                                 .idea = "tensor cores: a warp multiplies 16×16 matrices of f16 or bf16"});
}

}  // namespace treadle::TREADLE_TARGET
