// What is wrong: the first array has a place for each thread of a warp, but the block has two warps.
#include <cstdio>
#include <vector>

__global__ void pair_sums(const int* x, int* y) {
  __shared__ int left[32];  // also: out-of-bounds
  __shared__ int right[64];
  right[threadIdx.x] = x[64 + threadIdx.x];
  __syncthreads();
  left[threadIdx.x] = x[threadIdx.x];  // report: out-of-bounds
  __syncthreads();
  y[threadIdx.x] = left[threadIdx.x] + right[63 - threadIdx.x];  // report: out-of-bounds
}

int main() {
  std::vector<int> host(128, 1);
  int *x, *y;
  cudaMalloc(&x, 128 * sizeof(int));
  cudaMalloc(&y, 64 * sizeof(int));
  cudaMemcpy(x, host.data(), 128 * sizeof(int), cudaMemcpyHostToDevice);
  pair_sums<<<1, 64>>>(x, y);
  cudaMemcpy(host.data(), y, 64 * sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("%d\n", host[0]);
  cudaFree(x);
  cudaFree(y);
}
