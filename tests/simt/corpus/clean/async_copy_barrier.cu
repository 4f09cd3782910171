// Why it is right: the copy is bound to a barrier, and
// everybody waits for the barrier's phase before the use.
#include <cooperative_groups.h>
#include <cstdio>
#include <cuda/barrier>
#include <vector>

namespace cg = cooperative_groups;
using Barrier = cuda::barrier<cuda::thread_scope_block>;

__global__ void reverse_tiles(const float* x, float* y, int tiles) {
  __shared__ float tile[64];
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ Barrier barrier;
  const cg::thread_block block = cg::this_thread_block();
  if (block.thread_rank() == 0) init(&barrier, block.size());
  block.sync();
  for (int i = 0; i < tiles; ++i) {
    cuda::memcpy_async(block, tile, x + i * 64, sizeof(tile), barrier);
    barrier.arrive_and_wait();
    y[i * 64 + threadIdx.x] = tile[63 - threadIdx.x];
    block.sync();
  }
}

int main() {
  const int tiles = 3, n = tiles * 64;
  std::vector<float> host(n);
  for (int i = 0; i < n; ++i) host[i] = float(i);
  float *x, *y;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&y, n * sizeof(float));
  cudaMemcpy(x, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  reverse_tiles<<<1, 64>>>(x, y, tiles);
  cudaMemcpy(host.data(), y, n * sizeof(float), cudaMemcpyDeviceToHost);
  std::printf("%g\n", host[0]);
  cudaFree(x);
  cudaFree(y);
  return host[0] == 63.0f && host[64] == 127.0f ? 0 : 1;
}
