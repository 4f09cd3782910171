// What is wrong: the array is read in reverse as soon as it
// was loaded; nothing waits for the other threads' loads.
#include <cstdio>
#include <numeric>
#include <vector>

__global__ void reverse_blocks(const int* x, int* y) {
  __shared__ int tile[128];  // also: uninitialised
  const int first = blockIdx.x * blockDim.x;
  tile[threadIdx.x] = x[first + threadIdx.x];  // also: race
  // Here a __syncthreads() is missing.
  y[first + threadIdx.x] = tile[blockDim.x - 1 - threadIdx.x];  // report: race, also: uninitialised
}

int main() {
  const int n = 512;
  std::vector<int> host(n);
  std::iota(host.begin(), host.end(), 0);
  int *x, *y;
  cudaMalloc(&x, n * sizeof(int));
  cudaMalloc(&y, n * sizeof(int));
  cudaMemcpy(x, host.data(), n * sizeof(int), cudaMemcpyHostToDevice);
  reverse_blocks<<<n / 128, 128>>>(x, y);
  cudaMemcpy(host.data(), y, n * sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("first %d, last %d\n", host.front(), host.back());
  cudaFree(x);
  cudaFree(y);
}
