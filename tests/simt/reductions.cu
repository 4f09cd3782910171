#include "tests/simt/kernels.h"
#include "treadle/kernels/reduce.h"

namespace treadle::TREADLE_TARGET {
namespace {

/// Thread i of the grid owns x[i] and writes its block's sum of values and of squares to place i. The second
/// reduction, of the same types and so in the same shared memory, follows the first at once: a warp that is
/// ahead must not write where others still read.
__global__ void reduce_twice_kernel(const int* x, int* sums, int* squares) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  sums[i] = block_reduce(x[i], Addition<int>(), 0);
  squares[i] = block_reduce(x[i] * x[i], Addition<int>(), 0);
}

/// The sum over the block; the barrier that keeps `partial` until all have read it is missing.
__device__ int sum_without_last_barrier(int value) {
  __shared__ int partial[32];
  for (int distance = 16; distance > 0; distance /= 2)
    value += __shfl_down_sync(0xffffffffu, value, distance);
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = value;
  __syncthreads();
  int sum = 0;
  for (unsigned warp = 0; warp < blockDim.x / 32; ++warp) sum += partial[warp];
  return sum;
}

/// The same as a tree, whose array is written again at once.
__device__ int tree_sum_without_last_barrier(int value) {
  __shared__ int partial[1024];
  partial[threadIdx.x] = value;
  __syncthreads();
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
    __syncthreads();
  }
  return partial[0];
}

template <int (*sum)(int)>
__global__ void reduce_twice_unprotected_kernel(const int* x, int* sums, int* squares) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  sums[i] = sum(x[i]);
  squares[i] = sum(x[i] * x[i]);
}

}  // namespace

void reduce_twice_unprotected(stream_t stream, const int* x, int* sums, int* squares, int blocks, int threads,
                              bool tree) {
  if (tree)
    launch<reduce_twice_unprotected_kernel<tree_sum_without_last_barrier>>(stream, blocks, threads, 0, x,
                                                                           sums, squares);
  else
    launch<reduce_twice_unprotected_kernel<sum_without_last_barrier>>(stream, blocks, threads, 0, x, sums,
                                                                      squares);
}

void reduce_twice(stream_t stream, const int* x, int* sums, int* squares, int blocks, int threads) {
  launch<reduce_twice_kernel>(stream, blocks, threads, 0, x, sums, squares);
}

}  // namespace treadle::TREADLE_TARGET
