/// matmul and linear with 16-byte accesses: a block of 256 threads makes a tile of 128×128, a thread 8×8
/// results.
///
/// Rows of a and b come from global memory as float4, a quarter of the requests. The tile of a is turned on
/// its way into shared memory, so that a column of it, which each step needs, is read as float4 too: 4 reads
/// of 16 bytes for 64 products. Turned, however, the quads of one warp are written into the same banks
/// (conflict_free). Boehm, How to Optimize a CUDA Matmul Kernel for cuBLAS-like Performance, 2022, kernel 6.
#include "treadle/ops/matrix/cuda/float_patch.cuh"

namespace treadle::TREADLE_TARGET {
namespace {

constexpr int kTile = 128;   ///< rows and columns of c for a block
constexpr int kDepth = 8;    ///< steps along K at once
constexpr int kBlock = 256;  ///< threads: each copies one quad of either tile, and makes one patch
static_assert(kBlock * 4 == kTile * kDepth && kBlock * kPatch * kPatch == kTile * kTile);

__global__ void __launch_bounds__(kBlock) matmul_vectorized(MatrixProduct p, TileGrid grid) {
  __shared__ __align__(16) float a_tile[kDepth][kTile];
  __shared__ __align__(16) float b_tile[kDepth][kTile];
  const Matrices<float> x(p, grid.batch());
  const int i = int(threadIdx.x);
  const int a_row = i / (kDepth / 4), a_depth = i % (kDepth / 4) * 4;   // the quad of a to copy
  const int b_depth = i / (kTile / 4), b_column = i % (kTile / 4) * 4;  // and that of b
  const int row = i / (kTile / kPatch) * kPatch, column = i % (kTile / kPatch) * kPatch;
  const PatchPlace place{{row, row + 4}, {column, column + 4}};
  const int64_t m = grid.row() + a_row, n = grid.column() + b_column;
  FloatPatch sums{};
  for (int64_t k = 0; k < p.K; k += kDepth) {
    const float4 a = quad_or_zeros(x.a + m * p.a_row + k + a_depth, m < p.M && k + a_depth < p.K);
    a_tile[a_depth][a_row] = a.x;
    a_tile[a_depth + 1][a_row] = a.y;
    a_tile[a_depth + 2][a_row] = a.z;
    a_tile[a_depth + 3][a_row] = a.w;
    quad_at(&b_tile[b_depth][b_column]) =
        quad_or_zeros(x.b + (k + b_depth) * p.b_row + n, k + b_depth < p.K && n < p.N);
    __syncthreads();
    UNROLL(8) for (int d = 0; d < kDepth; ++d) add_outer_product(sums, a_tile[d], b_tile[d], place);
    __syncthreads();
  }
  store_patch(p, grid, sums, place);
}

void run(stream_t stream, const MatrixProduct& p) {
  const TileGrid grid(p, kTile, kTile);
  launch<matmul_vectorized>(stream, grid.blocks(p), kBlock, 0, p, grid);
}

}  // namespace

void register_matrix_cuda_vectorized(Registry& registry) {
  add_product_variant(
      registry, {.name = "vectorized",
                 .run = run,
                 .when = has_wide_rows_of_floats,
                 .preference = -1,
                 .rung = 6,
                 .idea = "16 bytes in each access, a turned in shared memory, 8×8 results for a thread"});
}

}  // namespace treadle::TREADLE_TARGET
