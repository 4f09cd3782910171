/// sum in a single pass: few results are cut into pieces, a block for each, and of each result's blocks the
/// one that is done last adds the pieces up.
///
/// As block, without the second kernel, for which a GPU empties and fills again. Blocks cannot wait for one
/// another, but each can count: it writes its piece, makes it visible by a fence, and raises its result's
/// counter. Who finds that all others have counted knows that all pieces are there. They are added in their
/// order whoever that is, so results are the same in every run. Counters begin at 0, which a small kernel
/// sees to. NVIDIA, CUDA C++ Programming Guide, "Memory fence functions"; CUDA Samples, threadFenceReduction.
#include "treadle/kernels/reduce.h"
#include "treadle/ops/reduce/cuda/block_sum.cuh"
#include "treadle/ops/reduce/cuda/pieces.cuh"

namespace treadle::TREADLE_TARGET {
namespace {

__global__ void sum_clear_counters(unsigned* done, int64_t outputs) {
  const int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < outputs) done[i] = 0;
}

/// Block (output, piece). `done` counts the pieces of each result.
__global__ void __launch_bounds__(kSumThreads) sum_single_pass(SumProblem p, float* pieces, unsigned* done) {
  __shared__ bool is_last;
  const int64_t output = blockIdx.x, count = gridDim.y;
  const int64_t begin = p.reduced.numel * blockIdx.y / count,
                end = p.reduced.numel * (blockIdx.y + 1) / count;
  const Addition<float> add;
  float sum = block_reduce(p.sum_of_thread(output, begin, end), add, 0.f);
  if (threadIdx.x == 0) {
    pieces[output * count + blockIdx.y] = sum;
    __threadfence();  // the piece before the count
    is_last = atomicAdd(&done[output], 1u) == count - 1;
    __threadfence();  // the count before others' pieces
  }
  __syncthreads();
  if (!is_last) return;
  sum = 0;
  for (int64_t i = threadIdx.x; i < count; i += kSumThreads) sum += __ldcg(&pieces[output * count + i]);
  sum = block_reduce(sum, add, 0.f);
  if (threadIdx.x == 0) p.y[output] = sum;
}

void run(const Call& call) {
  const SumProblem p = sum_problem(call);
  const int64_t outputs = p.kept.numel, splits = splits_for(outputs, p.reduced.numel, kSumThreads);
  float* pieces = call.workspace<float>(outputs * splits);
  unsigned* done = call.workspace<unsigned>(outputs);
  launch<sum_clear_counters, independent>(stream_of(call), blocks_for(outputs), kThreads, 0, done, outputs);
  launch<sum_single_pass>(stream_of(call), dim3(unsigned(outputs), unsigned(splits)), kSumThreads, 0, p,
                          pieces, done);
}

}  // namespace

void register_reduce_cuda_single_pass(Registry& registry) {
  add_block_sum(registry, "single_pass", run, 6, "the last block adds the pieces: no second pass over them");
}

}  // namespace treadle::TREADLE_TARGET
