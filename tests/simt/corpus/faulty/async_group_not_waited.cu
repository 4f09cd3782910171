// What is wrong: block.sync() does not wait for the group's asynchronous copy; cg::wait(block) does.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>

#include <cstdio>
#include <vector>

namespace cg = cooperative_groups;

__global__ void reverse(const int* x, int* y) {
  __shared__ int tile[128];  // also: uninitialised
  const cg::thread_block block = cg::this_thread_block();
  cg::memcpy_async(block, tile, x + blockIdx.x * 128, sizeof(tile));  // also: race
  block.sync();
  y[blockIdx.x * 128 + threadIdx.x] = tile[127 - threadIdx.x];  // report: race, also: uninitialised
  cg::wait(block);
}

int main() {
  const int n = 256;
  std::vector<int> host(n, 3);
  int *x, *y;
  cudaMalloc(&x, n * sizeof(int));
  cudaMalloc(&y, n * sizeof(int));
  cudaMemcpy(x, host.data(), n * sizeof(int), cudaMemcpyHostToDevice);
  reverse<<<n / 128, 128>>>(x, y);
  cudaMemcpy(host.data(), y, n * sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("%d\n", host[0]);
  cudaFree(x);
  cudaFree(y);
}
