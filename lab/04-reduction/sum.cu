// The sum of n numbers, by five kernels.
#include "../lab.h"

constexpr int kThreads = 256, kLanes = 32, kWarps = kThreads / kLanes;
constexpr int kBlocks = 16;

// What a thread adds by itself: elements a whole grid apart, so that neighbours read neighbours.
__device__ float sum_of_thread(const float* x, int n) {
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += x[i];
  return sum;
}

// A tree in shared memory. In step s every (2 s)th thread adds what lies s places on: warps stay busy with
// few lanes.
__global__ void sum_interleaved(const float* x, float* y, int n) {
  __shared__ float sums[kThreads];
  int i = threadIdx.x;
  sums[i] = sum_of_thread(x, n);
  __syncthreads();
  for (int step = 1; step < kThreads; step *= 2) {
    if (i % (2 * step) == 0) sums[i] += sums[i + step];
    __syncthreads();
  }
  if (i == 0) atomicAdd(y, sums[0]);
}

// The same tree, but the threads that add are neighbours: whole warps only wait at the barrier.
__global__ void sum_sequential(const float* x, float* y, int n) {
  __shared__ float sums[kThreads];
  int i = threadIdx.x;
  sums[i] = sum_of_thread(x, n);
  __syncthreads();
  for (int step = kThreads / 2; step > 0; step /= 2) {
    if (i < step) sums[i] += sums[i + step];
    __syncthreads();
  }
  if (i == 0) atomicAdd(y, sums[0]);
}

// Lane 0 gets the sum of the warp's lanes, which read one another's registers.
__device__ float sum_of_warp(float sum) {
  for (int step = kLanes / 2; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffff, sum, step);
  return sum;
}

// Thread 0 gets the sum of the block: one barrier.
__device__ float sum_of_block(float sum) {
  __shared__ float of_warp[kWarps];
  int warp = threadIdx.x / kLanes, lane = threadIdx.x % kLanes;
  sum = sum_of_warp(sum);
  if (lane == 0) of_warp[warp] = sum;
  __syncthreads();
  if (warp == 0) sum = sum_of_warp(lane < kWarps ? of_warp[lane] : 0);
  return sum;
}

__global__ void sum_shuffle(const float* x, float* y, int n) {
  float sum = sum_of_block(sum_of_thread(x, n));
  if (threadIdx.x == 0) atomicAdd(y, sum);
}

// A piece for each block, without an atomic: a second launch adds the pieces, always in the same order.
__global__ void sum_pieces(const float* x, float* pieces, int n) {
  float sum = sum_of_block(sum_of_thread(x, n));
  if (threadIdx.x == 0) pieces[blockIdx.x] = sum;
}

// Both in one launch: the block that is done last adds the pieces. `done` counts the blocks, from 0.
__global__ void sum_single_pass(const float* x, float* y, int n, volatile float* pieces, unsigned* done) {
  __shared__ bool is_last;
  float sum = sum_of_block(sum_of_thread(x, n));
  if (threadIdx.x == 0) {
    pieces[blockIdx.x] = sum;
    __threadfence();  // the piece is seen before the count
    is_last = atomicAdd(done, 1) == gridDim.x - 1;
    __threadfence();  // the count is seen before the others' pieces
  }
  __syncthreads();
  if (!is_last) return;
  sum = sum_of_block(threadIdx.x < gridDim.x ? pieces[threadIdx.x] : 0);
  if (threadIdx.x == 0) *y = sum;
}

int main(int count, char** words) {
  const int n = lab::positive_argument(count, words, 1, 20'000);
  const std::vector<float> x = lab::numbers(n);
  double sum = 0, absolute = 0;
  for (float value : x) sum += value, absolute += std::fabs(value);
  // A thread's additions, 8 of the tree and one for each block: each rounds a partial sum, and none is larger
  // than the sum of all |x|.
  const double additions = double(n) / (kBlocks * kThreads) + 8 + kBlocks,
               tolerance = additions * 0x1p-24 * absolute;
  const std::vector<float> expected{float(sum)};
  const lab::Array<float> from(x);
  const auto clear = [](float* y) { MUST(cudaMemset(y, 0, sizeof *y)); };

  lab::Table table("the sum of all elements");
  table.row(
      "sum_interleaved", expected, tolerance,
      [&](float* y) { sum_interleaved<<<kBlocks, kThreads>>>(from, y, n); }, clear);
  table.row(
      "sum_sequential", expected, tolerance,
      [&](float* y) { sum_sequential<<<kBlocks, kThreads>>>(from, y, n); }, clear);
  table.row(
      "sum_shuffle", expected, tolerance, [&](float* y) { sum_shuffle<<<kBlocks, kThreads>>>(from, y, n); },
      clear);
  const lab::Array<float> pieces(kBlocks);
  table.row("sum_pieces, twice", expected, tolerance, [&](float* y) {
    sum_pieces<<<kBlocks, kThreads>>>(from, pieces, n);
    sum_pieces<<<1, kThreads>>>(pieces, y, kBlocks);
  });
  lab::Array<unsigned> done(1);
  table.row(
      "sum_single_pass", expected, tolerance,
      [&](float* y) { sum_single_pass<<<kBlocks, kThreads>>>(from, y, n, pieces, done); },
      [&](float*) { done.clear(); });
  return table.end();
}
