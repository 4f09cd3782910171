// Why it is right: cg::wait() waits for the group's copies, and makes them visible to the whole group.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>

#include <cstdio>
#include <vector>

namespace cg = cooperative_groups;

__global__ void reverse(const int* x, int* y) {
  __shared__ alignas(16) int tile[128];
  const cg::thread_block block = cg::this_thread_block();
  cg::memcpy_async(block, tile, x + blockIdx.x * 128, sizeof(tile));
  cg::wait(block);
  y[blockIdx.x * 128 + threadIdx.x] = tile[127 - threadIdx.x];
}

int main() {
  const int n = 256;
  std::vector<int> host(n);
  for (int i = 0; i < n; ++i) host[i] = i;
  int *x, *y;
  cudaMalloc(&x, n * sizeof(int));
  cudaMalloc(&y, n * sizeof(int));
  cudaMemcpy(x, host.data(), n * sizeof(int), cudaMemcpyHostToDevice);
  reverse<<<n / 128, 128>>>(x, y);
  cudaMemcpy(host.data(), y, n * sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("%d\n", host[0]);
  cudaFree(x);
  cudaFree(y);
  return host[0] == 127 && host[n - 1] == 128 ? 0 : 1;
}
