/// matmul and linear the plainest way: a thread for each element of c, which reads a row of a and a column of
/// b from global memory, 2·K elements for one result.
///
/// Threads are numbered down the columns of c, as one would number them without thinking of memory. The 32
/// threads of a warp then have 32 rows of a matrix and one column: at each step they read 32 elements of a
/// that lie a row apart, in 32 sectors of which each thread uses 4 bytes, and write c in the same way.
#include "treadle/ops/matrix/cuda/matrices.cuh"

namespace treadle::TREADLE_TARGET {
namespace {

template <class T>
__global__ void matmul_naive(MatrixProduct p) {
  const int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= p.outputs()) return;
  const int64_t m = i % p.M, n = i / p.M % p.N;
  const Matrices<T> x(p, i / p.M / p.N);
  const T *a = x.a + m * p.a_row, *b = x.b + n * p.b_column;
  Compute<T> sum = bias_of(x.bias, n * p.bias_step);
  for (int64_t k = 0; k < p.K; ++k)
    sum += static_cast<Compute<T>>(a[k * p.a_column]) * static_cast<Compute<T>>(b[k * p.b_row]);
  x.c[m * p.c_row + n * p.c_column] = static_cast<T>(sum);
}

void run(stream_t stream, const MatrixProduct& p) {
  with_floating_device_type(p.dtype, [&](auto tag) {
    launch<matmul_naive<typename decltype(tag)::type>, independent>(stream, blocks_for(p.outputs()), kThreads,
                                                                    0, p);
  });
}

}  // namespace

void register_matrix_cuda_naive(Registry& registry) {
  add_product_variant(registry, {.name = "naive",
                                 .run = run,
                                 .rung = 1,
                                 .idea = "a thread for each result, neighbours in neighbouring rows"});
}

}  // namespace treadle::TREADLE_TARGET
