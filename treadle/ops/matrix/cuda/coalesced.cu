/// matmul and linear with coalesced access: as naive, but threads are numbered along the rows of c.
///
/// The 32 threads of a warp have one row and 32 neighbouring columns. At each step they read one element of
/// a, which is one request for all, and 32 neighbours of b, which are four sectors read whole; c is written
/// in the same way. Not one product or read is fewer: only who makes which result has changed. NVIDIA, CUDA
/// C++ Best Practices Guide, "Coalesced access to global memory"; Boehm, How to Optimize a CUDA Matmul Kernel
/// for cuBLAS-like Performance, 2022, kernel 2.
#include "treadle/ops/matrix/cuda/matrices.cuh"

namespace treadle::TREADLE_TARGET {
namespace {

__global__ void matmul_coalesced(MatrixProduct p) {
  const int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= p.outputs()) return;
  const int64_t n = i % p.N, m = i / p.N % p.M;
  const Matrices<float> x(p, i / p.N / p.M);
  const float *a = x.a + m * p.a_row, *b = x.b + n * p.b_column;
  float sum = bias_of(x.bias, n * p.bias_step);
  for (int64_t k = 0; k < p.K; ++k) sum += a[k * p.a_column] * b[k * p.b_row];
  x.c[m * p.c_row + n * p.c_column] = sum;
}

void run(stream_t stream, const MatrixProduct& p) {
  launch<matmul_coalesced, independent>(stream, blocks_for(p.outputs()), kThreads, 0, p);
}

}  // namespace

void register_matrix_cuda_coalesced(Registry& registry) {
  add_product_variant(
      registry, {.name = "coalesced",
                 .run = run,
                 .when = is_of_floats,
                 .preference = -1,
                 .rung = 2,
                 .idea = "neighbouring threads take neighbouring columns, so a warp reads whole sectors"});
}

}  // namespace treadle::TREADLE_TARGET
