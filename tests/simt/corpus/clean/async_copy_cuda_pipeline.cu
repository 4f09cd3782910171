// Why it is right: the block's pipeline hands a stage over only when all
// copies of it have come, and takes it back when all threads have released it.
#include <cooperative_groups.h>
#include <cstdio>
#include <cuda/pipeline>
#include <vector>

namespace cg = cooperative_groups;

constexpr int kThreads = 64, kStages = 2;

__global__ void sum_reversed(const int* x, int* y, int tiles) {
  __shared__ int buffer[kStages][kThreads];
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, kStages> state;
  const cg::thread_block block = cg::this_thread_block();
  auto pipeline = cuda::make_pipeline(block, &state);
  int sum = 0;
  for (int tile = 0, fetched = 0; tile < tiles; ++tile) {
    for (; fetched < tiles && fetched < tile + kStages; ++fetched) {
      pipeline.producer_acquire();
      cuda::memcpy_async(block, buffer[fetched % kStages], x + fetched * kThreads, kThreads * sizeof(int),
                         pipeline);
      pipeline.producer_commit();
    }
    pipeline.consumer_wait();
    sum += buffer[tile % kStages][kThreads - 1 - threadIdx.x];
    pipeline.consumer_release();
  }
  y[threadIdx.x] = sum;
}

int main() {
  const int tiles = 5, n = tiles * kThreads;
  std::vector<int> host(n);
  for (int i = 0; i < n; ++i) host[i] = i % kThreads;
  int *x, *y;
  cudaMalloc(&x, n * sizeof(int));
  cudaMalloc(&y, kThreads * sizeof(int));
  cudaMemcpy(x, host.data(), n * sizeof(int), cudaMemcpyHostToDevice);
  sum_reversed<<<1, kThreads>>>(x, y, tiles);
  cudaMemcpy(host.data(), y, kThreads * sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("%d\n", host[0]);
  cudaFree(x);
  cudaFree(y);
  return host[0] == tiles * 63 ? 0 : 1;
}
