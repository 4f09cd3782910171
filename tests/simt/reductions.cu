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

}  // namespace

void reduce_twice(stream_t stream, const int* x, int* sums, int* squares, int blocks, int threads) {
  launch<reduce_twice_kernel>(stream, blocks, threads, 0, x, sums, squares);
}

}  // namespace treadle::TREADLE_TARGET
