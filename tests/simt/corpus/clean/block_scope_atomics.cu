// Why it is right: atomics of block scope are used on words that one block alone touches.
#include <cstdio>
#include <vector>

__global__ void histogram_of_each_block(const int* x, int* bins, int n) {
  __shared__ int largest;
  if (threadIdx.x == 0) largest = 0;
  __syncthreads();
  int* mine = bins + blockIdx.x * 9;
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    const int value = x[blockIdx.x * n + i];
    atomicAdd_block(&mine[value], 1);
    atomicMax_block(&largest, value);
  }
  __syncthreads();
  if (threadIdx.x == 0) mine[8] = largest;
}

int main() {
  const int blocks = 3, n = 200;
  std::vector<int> host(blocks * n);
  for (int i = 0; i < blocks * n; ++i) host[i] = i % 8;
  int *x, *bins, result[blocks * 9];
  cudaMalloc(&x, host.size() * sizeof(int));
  cudaMalloc(&bins, sizeof(result));
  cudaMemcpy(x, host.data(), host.size() * sizeof(int), cudaMemcpyHostToDevice);
  cudaMemset(bins, 0, sizeof(result));
  histogram_of_each_block<<<blocks, 64>>>(x, bins, n);
  cudaMemcpy(result, bins, sizeof(result), cudaMemcpyDeviceToHost);
  std::printf("%d %d\n", result[0], result[8]);
  cudaFree(x);
  cudaFree(bins);
  return result[0] == 25 && result[26] == 7 ? 0 : 1;
}
