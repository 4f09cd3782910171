// Mean and variance of a block's numbers, by one tree that is used twice. In some orders of threads it is
// right.
#include "../../lab.h"

constexpr int kThreads = 128;

__device__ float sum_of_block(float* sums, float value) {
  int i = threadIdx.x;
  sums[i] = value;
  __syncthreads();
  for (int step = kThreads / 2; step > 0; step /= 2) {
    if (i < step) sums[i] += sums[i + step];
    __syncthreads();
  }
  return sums[0];
}

__global__ void mean_and_variance(const float* x, float* y) {
  __shared__ float sums[kThreads];
  float value = x[threadIdx.x];
  float mean = sum_of_block(sums, value) / kThreads;
  float variance = sum_of_block(sums, (value - mean) * (value - mean)) / kThreads;
  if (threadIdx.x == 0) y[0] = mean, y[1] = variance;
}

int main() {
  const std::vector<float> x = lab::numbers(kThreads);
  double mean = 0, variance = 0;
  for (float value : x) mean += value / kThreads;
  for (float value : x) variance += (value - mean) * (value - mean) / kThreads;
  const lab::Array<float> from(x);
  lab::Table table("128 numbers");
  table.row("mean_and_variance", std::vector<float>{float(mean), float(variance)}, 1e-6,
            [&](float* y) { mean_and_variance<<<1, kThreads>>>(from, y); });
  return table.end();
}
