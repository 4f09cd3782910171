// What is wrong: one group may still be pending in the last
// round, too, where it is the very group that is read.
#include <cuda_pipeline.h>

#include <cstdio>
#include <vector>

constexpr int kThreads = 64;

__global__ void sum_tiles(const float4* x, float* y, int tiles) {
  __shared__ float4 buffer[2][kThreads];  // also: uninitialised
  const int t = threadIdx.x;
  float sum = 0.0f;
  __pipeline_memcpy_async(&buffer[0][t], &x[t], sizeof(float4));  // also: race
  __pipeline_commit();
  for (int tile = 0; tile < tiles; ++tile) {
    if (tile + 1 < tiles) {
      __pipeline_memcpy_async(&buffer[(tile + 1) % 2][t], &x[(tile + 1) * kThreads + t], 16);  // also: race
      __pipeline_commit();
    }
    __pipeline_wait_prior(1);
    __syncthreads();
    const float4 v = buffer[tile % 2][kThreads - 1 - t];  // report: race, also: uninitialised
    sum += v.x + v.y + v.z + v.w;
    __syncthreads();
  }
  y[t] = sum;
}

int main() {
  const int tiles = 3;
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
}
