// What is wrong: a thread zeroes the block's counter while others may already have counted.
#include <cstdio>
#include <vector>

__global__ void count_positive(const int* x, int* counts, int n) {
  __shared__ int count;             // also: uninitialised
  if (threadIdx.x == 0) count = 0;  // report: race
  // The zero must be there before anybody adds.
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && x[i] > 0) atomicAdd(&count, 1);  // also: race, also: uninitialised
  __syncthreads();
  if (threadIdx.x == 0) counts[blockIdx.x] = count;
}

int main() {
  const int n = 500, blocks = (n + 127) / 128;
  std::vector<int> host(n);
  for (int i = 0; i < n; ++i) host[i] = i % 3 - 1;
  int *x, *counts;
  cudaMalloc(&x, n * sizeof(int));
  cudaMalloc(&counts, blocks * sizeof(int));
  cudaMemcpy(x, host.data(), n * sizeof(int), cudaMemcpyHostToDevice);
  count_positive<<<blocks, 128>>>(x, counts, n);
  cudaMemcpy(host.data(), counts, blocks * sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("%d in the first block\n", host[0]);
  cudaFree(x);
  cudaFree(counts);
}
