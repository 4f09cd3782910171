// Why it is right: each round waits until its own group has
// come, and barriers stand behind the wait and the use.
#include <cuda_pipeline.h>

#include <cstdio>
#include <vector>

constexpr int kThreads = 64, kStages = 2;

__global__ void sum_tiles(const float4* x, float* y, int tiles) {
  __shared__ float4 buffer[kStages][kThreads];
  const int t = threadIdx.x;
  for (int stage = 0; stage < kStages - 1; ++stage) {
    if (stage < tiles) __pipeline_memcpy_async(&buffer[stage][t], &x[stage * kThreads + t], sizeof(float4));
    __pipeline_commit();
  }
  float sum = 0.0f;
  for (int tile = 0; tile < tiles; ++tile) {
    const int ahead = tile + kStages - 1;
    if (ahead < tiles) {
      __pipeline_memcpy_async(&buffer[ahead % kStages][t], &x[ahead * kThreads + t], sizeof(float4));
    }
    __pipeline_commit();  // an empty group in the last rounds, so that the count of pending ones holds
    __pipeline_wait_prior(kStages - 1);
    __syncthreads();
    const float4 v = buffer[tile % kStages][kThreads - 1 - t];
    sum += v.x + v.y + v.z + v.w;
    __syncthreads();
  }
  y[t] = sum;
}

int main() {
  const int tiles = 5;
  std::vector<float> host(4 * tiles * kThreads, 1.0f);
  float4* x;
  float* y;
  cudaMalloc(&x, host.size() * sizeof(float));
  cudaMalloc(&y, kThreads * sizeof(float));
  cudaMemcpy(x, host.data(), host.size() * sizeof(float), cudaMemcpyHostToDevice);
  sum_tiles<<<1, kThreads>>>(x, y, tiles);
  cudaMemcpy(host.data(), y, kThreads * sizeof(float), cudaMemcpyDeviceToHost);
  std::printf("%g\n", host[0]);
  cudaFree(x);
  cudaFree(y);
  return host[0] == 20.0f ? 0 : 1;
}
