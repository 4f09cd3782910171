/// sum by a tree with sequential addressing: in step s the first s threads add the element s places on.
///
/// As interleaved, but the threads that work are neighbours: whole warps have nothing to do and leave, of 8
/// warps 4, then 6, then 7, and no warp waits for lanes of its own before the last five steps. Neighbours
/// also read neighbours, in 32 banks. Harris, Optimizing Parallel Reduction in CUDA, 2007, kernel 3.
#include "treadle/ops/reduce/cuda/block_sum.cuh"

namespace treadle::TREADLE_TARGET {
namespace {

__global__ void __launch_bounds__(kSumThreads) sum_sequential(SumProblem p) {
  __shared__ float sums[kSumThreads];
  const int i = int(threadIdx.x);
  sums[i] = p.sum_of_thread(blockIdx.x, 0, p.reduced.numel);
  __syncthreads();
  for (int step = kSumThreads / 2; step > 0; step /= 2) {
    if (i < step) sums[i] += sums[i + step];
    __syncthreads();
  }
  if (i == 0) p.y[blockIdx.x] = sums[0];
}

void run(const Call& call) {
  const SumProblem p = sum_problem(call);
  launch<sum_sequential>(stream_of(call), unsigned(p.kept.numel), kSumThreads, 0, p);
}

}  // namespace

void register_reduce_cuda_sequential(Registry& registry) {
  add_block_sum(registry, "sequential", run, 3, "the threads that add are neighbours, so whole warps leave");
}

}  // namespace treadle::TREADLE_TARGET
