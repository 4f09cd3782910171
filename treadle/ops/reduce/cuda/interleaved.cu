/// sum by a tree with interleaved addressing: in step s thread i adds the neighbour s places on, where i is a
/// multiple of 2·s.
///
/// A block for each result: its 256 sums lie in shared memory and become one in 8 steps. The threads that
/// work are ever further apart, so each warp takes part in each of the first five steps with ever fewer lanes
/// (16, 8, 4, 2, 1): half of a warp's time and more is waiting for lanes that have nothing to do. Harris,
/// Optimizing Parallel Reduction in CUDA, 2007, kernel 1.
#include "treadle/ops/reduce/cuda/block_sum.cuh"

namespace treadle::TREADLE_TARGET {
namespace {

__global__ void __launch_bounds__(kSumThreads) sum_interleaved(SumProblem p) {
  __shared__ float sums[kSumThreads];
  const int i = int(threadIdx.x);
  sums[i] = p.sum_of_thread(blockIdx.x, 0, p.reduced.numel);
  __syncthreads();
  for (int step = 1; step < kSumThreads; step *= 2) {
    if (i % (2 * step) == 0) sums[i] += sums[i + step];
    __syncthreads();
  }
  if (i == 0) p.y[blockIdx.x] = sums[0];
}

void run(const Call& call) {
  const SumProblem p = sum_problem(call);
  launch<sum_interleaved>(stream_of(call), unsigned(p.kept.numel), kSumThreads, 0, p);
}

}  // namespace

void register_reduce_cuda_interleaved(Registry& registry) {
  add_block_sum(registry, "interleaved", run, 2, "a block for each result, whose sums meet in a tree");
}

}  // namespace treadle::TREADLE_TARGET
