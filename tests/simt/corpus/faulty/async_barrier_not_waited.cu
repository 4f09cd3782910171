// What is wrong: all arrive at the barrier that the copy
// is bound to, but use the data before they wait for it.
#include <cooperative_groups.h>
#include <cstdio>
#include <cuda/barrier>
#include <utility>
#include <vector>

namespace cg = cooperative_groups;
using Barrier = cuda::barrier<cuda::thread_scope_block>;

__global__ void scale(const float* x, float* y) {
  __shared__ float tile[64];  // also: uninitialised
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ Barrier barrier;
  const cg::thread_block block = cg::this_thread_block();
  if (block.thread_rank() == 0) init(&barrier, block.size());
  block.sync();
  cuda::memcpy_async(block, tile, x, sizeof(tile), barrier);  // also: race
  Barrier::arrival_token token = barrier.arrive();
  y[threadIdx.x] = 2.0f * tile[63 - threadIdx.x];  // report: race, also: uninitialised
  barrier.wait(std::move(token));
}

int main() {
  std::vector<float> host(64, 1.0f);
  float *x, *y;
  cudaMalloc(&x, 64 * sizeof(float));
  cudaMalloc(&y, 64 * sizeof(float));
  cudaMemcpy(x, host.data(), 64 * sizeof(float), cudaMemcpyHostToDevice);
  scale<<<1, 64>>>(x, y);
  cudaMemcpy(host.data(), y, 64 * sizeof(float), cudaMemcpyDeviceToHost);
  std::printf("%g\n", host[0]);
  cudaFree(x);
  cudaFree(y);
}
