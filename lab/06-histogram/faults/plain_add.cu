// Counts in shared memory, and all counts come out. Are they always right?
#include "../../lab.h"

constexpr int kBins = 8, kThreads = 128;

__global__ void histogram(const int* x, int* bins) {
  __shared__ int own[kBins];
  if (threadIdx.x < kBins) own[threadIdx.x] = 0;
  __syncthreads();
  own[x[blockIdx.x * kThreads + threadIdx.x]]++;
  __syncthreads();
  if (threadIdx.x < kBins) atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
}

int main() {
  const int n = 4 * kThreads;
  const std::vector<int> x = lab::whole_numbers(n, kBins);
  std::vector<int> expected(kBins);
  for (int value : x) ++expected[value];
  const lab::Array<int> from(x);
  lab::Table table("8 bins");
  table.row(
      "histogram", expected, 0, [&](int* bins) { histogram<<<n / kThreads, kThreads>>>(from, bins); },
      [](int* bins) { MUST(cudaMemset(bins, 0, kBins * sizeof(int))); });
  return table.end();
}
