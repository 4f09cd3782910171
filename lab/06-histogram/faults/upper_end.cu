// Numbers from 0 to 1, both ends with them, in ten bins. One value in many thousands goes wrong.
#include "../../lab.h"

constexpr int kBins = 10, kThreads = 128;

__global__ void histogram(const float* x, int* bins, int n) {
  __shared__ int own[kBins];
  if (threadIdx.x < kBins) own[threadIdx.x] = 0;
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += kThreads) atomicAdd(&own[int(x[i] * kBins)], 1);
  __syncthreads();
  if (threadIdx.x < kBins) bins[threadIdx.x] = own[threadIdx.x];
}

int main() {
  const int n = 1000;
  std::vector<float> x = lab::numbers(n);
  for (float& value : x) value = (value + 1) / 2;
  x[123] = 1;
  std::vector<int> expected(kBins);
  for (float value : x) ++expected[std::min(int(value * kBins), kBins - 1)];
  const lab::Array<float> from(x);
  lab::Table table("10 bins");
  table.row("histogram", expected, 0, [&](int* bins) { histogram<<<1, kThreads>>>(from, bins, n); });
  return table.end();
}
