/// matmul and linear through shared memory: a block of 32×32 threads makes a tile of 32×32 results, one each.
///
/// Tiles of a and b of 32×32 pass through shared memory, to which each thread copies one element of either;
/// then each meets 32 results. So an element is read from global memory once for 32 products and not once for
/// each: 2·K/32 reads for a result. In shared memory two reads for each product are left.
/// Kirk and Hwu, Programming Massively Parallel Processors, chapter "Memory architecture and data locality".
#include "treadle/ops/matrix/cuda/matrices.cuh"

namespace treadle::TREADLE_TARGET {
namespace {

constexpr int kTile = 32;  ///< rows and columns of c for a block, and steps along K at once

__global__ void __launch_bounds__(kTile* kTile) matmul_shared_tile(MatrixProduct p, TileGrid grid) {
  __shared__ float a_tile[kTile][kTile];
  __shared__ float b_tile[kTile][kTile];
  const Matrices<float> x(p, grid.batch());
  const int tx = int(threadIdx.x), ty = int(threadIdx.y);
  const int64_t m = grid.row() + ty, n = grid.column() + tx;
  float sum = 0;
  for (int64_t k = 0; k < p.K; k += kTile) {
    a_tile[ty][tx] = m < p.M && k + tx < p.K ? x.a[m * p.a_row + (k + tx) * p.a_column] : 0.f;
    b_tile[ty][tx] = n < p.N && k + ty < p.K ? x.b[(k + ty) * p.b_row + n * p.b_column] : 0.f;
    __syncthreads();
    UNROLL(8) for (int d = 0; d < kTile; ++d) sum += a_tile[ty][d] * b_tile[d][tx];
    __syncthreads();
  }
  if (m < p.M && n < p.N) x.c[m * p.c_row + n * p.c_column] = sum + bias_of(x.bias, n * p.bias_step);
}

void run(stream_t stream, const MatrixProduct& p) {
  const TileGrid grid(p, kTile, kTile);
  launch<matmul_shared_tile>(stream, grid.blocks(p), dim3(kTile, kTile), 0, p, grid);
}

}  // namespace

void register_matrix_cuda_shared_tile(Registry& registry) {
  add_product_variant(registry,
                      {.name = "shared_tile",
                       .run = run,
                       .when = is_of_floats,
                       .preference = -1,
                       .rung = 3,
                       .idea = "a block shares tiles of a and b: each element is read once for 32 products"});
}

}  // namespace treadle::TREADLE_TARGET
