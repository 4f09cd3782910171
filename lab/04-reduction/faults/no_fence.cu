// The last block adds what all have left. On many runs, on many cards, the result is right.
#include "../../lab.h"

constexpr int kThreads = 64, kBlocks = 8;

__global__ void largest(const float* x, float* y, float* pieces, unsigned* done) {
  __shared__ float best[kThreads];
  __shared__ bool is_last;
  int i = threadIdx.x;
  best[i] = x[blockIdx.x * kThreads + i];
  __syncthreads();
  for (int step = kThreads / 2; step > 0; step /= 2) {
    if (i < step) best[i] = fmaxf(best[i], best[i + step]);
    __syncthreads();
  }
  if (i == 0) {
    pieces[blockIdx.x] = best[0];
    is_last = atomicAdd(done, 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!is_last || i > 0) return;
  float result = pieces[0];
  for (int block = 1; block < kBlocks; ++block) result = fmaxf(result, pieces[block]);
  *y = result;
}

int main() {
  const std::vector<float> x = lab::numbers(kThreads * kBlocks);
  const lab::Array<float> from(x), pieces(kBlocks);
  lab::Array<unsigned> done(1);
  done.clear();
  lab::Table table("512 numbers");
  table.row("largest", std::vector<float>{*std::max_element(x.begin(), x.end())}, 0,
            [&](float* y) { largest<<<kBlocks, kThreads>>>(from, y, pieces, done); });
  return table.end();
}
