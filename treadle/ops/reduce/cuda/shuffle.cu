/// sum with shuffles: the lanes of a warp read one another's registers.
///
/// As sequential, but five of the eight steps need neither shared memory nor a barrier of the block: the
/// lanes of a warp add up by __shfl_down_sync, then the first warp adds the 8 sums of the warps. One barrier
/// is left of nine, and 32 bytes of shared memory of 1 KiB. Luitjens, Faster Parallel Reductions on Kepler,
/// 2014.
#include "treadle/ops/reduce/cuda/block_sum.cuh"

namespace treadle::TREADLE_TARGET {
namespace {

constexpr unsigned kAllLanes = 0xffffffffu;
constexpr int kLanes = 32, kWarps = kSumThreads / kLanes;

/// Lane 0 gets the sum of all lanes.
__device__ float sum_of_warp(float sum) {
  for (int step = kLanes / 2; step > 0; step /= 2) sum += __shfl_down_sync(kAllLanes, sum, step);
  return sum;
}

__global__ void __launch_bounds__(kSumThreads) sum_shuffle(SumProblem p) {
  __shared__ float of_warp[kWarps];
  const int warp = int(threadIdx.x) / kLanes, lane = int(threadIdx.x) % kLanes;
  float sum = sum_of_warp(p.sum_of_thread(blockIdx.x, 0, p.reduced.numel));
  if (lane == 0) of_warp[warp] = sum;
  __syncthreads();
  if (warp != 0) return;
  sum = sum_of_warp(lane < kWarps ? of_warp[lane] : 0.f);
  if (lane == 0) p.y[blockIdx.x] = sum;
}

void run(const Call& call) {
  const SumProblem p = sum_problem(call);
  launch<sum_shuffle>(stream_of(call), unsigned(p.kept.numel), kSumThreads, 0, p);
}

}  // namespace

void register_reduce_cuda_shuffle(Registry& registry) {
  add_block_sum(registry, "shuffle", run, 4, "lanes add up by shuffles: one barrier is left of nine");
}

}  // namespace treadle::TREADLE_TARGET
