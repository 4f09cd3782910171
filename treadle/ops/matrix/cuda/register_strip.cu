/// matmul and linear by register tiles in one direction: a thread makes 8 results of one column of c.
///
/// A block of 512 threads makes a tile of 64×64. At each step along K a thread reads one element of b into a
/// register and multiplies it by 8 of a: 9 reads of shared memory for 8 products, where one result for each
/// thread takes 16. What limits a GPU here is how often it reads shared memory, not how often it multiplies.
/// Boehm, How to Optimize a CUDA Matmul Kernel for cuBLAS-like Performance, 2022, kernel 4.
#include "treadle/ops/matrix/cuda/matrices.cuh"

namespace treadle::TREADLE_TARGET {
namespace {

constexpr int kTile = 64;  ///< rows and columns of c for a block
constexpr int kDepth = 8;  ///< steps along K at once
constexpr int kStrip = 8;  ///< rows of c for a thread
constexpr int kStripThreads = kTile * kTile / kStrip;
static_assert(kStripThreads == kTile * kDepth, "each thread copies one element of either tile");

__global__ void __launch_bounds__(kStripThreads) matmul_register_strip(MatrixProduct p, TileGrid grid) {
  __shared__ float a_tile[kTile][kDepth];
  __shared__ float b_tile[kDepth][kTile];
  const Matrices<float> x(p, grid.batch());
  const int i = int(threadIdx.x), column = i % kTile, first_row = i / kTile * kStrip;
  const int64_t a_row = grid.row() + i / kDepth, n = grid.column() + column;
  float sums[kStrip] = {};
  for (int64_t k = 0; k < p.K; k += kDepth) {
    const int64_t a_column = k + i % kDepth, b_row = k + i / kTile;
    a_tile[i / kDepth][i % kDepth] =
        a_row < p.M && a_column < p.K ? x.a[a_row * p.a_row + a_column * p.a_column] : 0.f;
    b_tile[i / kTile][column] = b_row < p.K && n < p.N ? x.b[b_row * p.b_row + n * p.b_column] : 0.f;
    __syncthreads();
    UNROLL(8) for (int d = 0; d < kDepth; ++d) {
      const float b = b_tile[d][column];
      UNROLL(8) for (int r = 0; r < kStrip; ++r) sums[r] += a_tile[first_row + r][d] * b;
    }
    __syncthreads();
  }
  UNROLL(8) for (int r = 0; r < kStrip; ++r) {
    const int64_t m = grid.row() + first_row + r;
    if (m < p.M && n < p.N) x.c[m * p.c_row + n * p.c_column] = sums[r] + bias_of(x.bias, n * p.bias_step);
  }
}

void run(stream_t stream, const MatrixProduct& p) {
  const TileGrid grid(p, kTile, kTile);
  launch<matmul_register_strip>(stream, grid.blocks(p), kStripThreads, 0, p, grid);
}

}  // namespace

void register_matrix_cuda_register_strip(Registry& registry) {
  add_product_variant(
      registry, {.name = "register_strip",
                 .run = run,
                 .when = is_of_floats,
                 .preference = -1,
                 .rung = 4,
                 .idea = "a thread makes 8 results of a column: 9 reads of shared memory serve 8 products"});
}

}  // namespace treadle::TREADLE_TARGET
