// What is wrong: the next copy goes into the buffer that
// other threads still read; a barrier is missing before it.
#include <cuda_pipeline.h>

#include <cstdio>
#include <vector>

constexpr int kThreads = 128;

__global__ void dot_with_reverse(const float* x, float* y, int tiles) {
  __shared__ float buffer[2][kThreads];
  const int t = threadIdx.x;
  for (int tile = 0; tile < 2; ++tile) {
    __pipeline_memcpy_async(&buffer[tile][t], &x[tile * kThreads + t], sizeof(float));
    __pipeline_commit();
  }
  float sum = 0.0f;
  for (int tile = 0; tile < tiles; ++tile) {
    __pipeline_wait_prior(1);
    __syncthreads();
    float* now = buffer[tile % 2];
    sum += now[t] * now[kThreads - 1 - t];  // report: race
    if (tile + 2 < tiles) {
      __pipeline_memcpy_async(&now[t], &x[(tile + 2) * kThreads + t], sizeof(float));  // also: race
    }
    __pipeline_commit();
  }
  y[t] = sum;
}

int main() {
  const int tiles = 4;
  std::vector<float> host(tiles * kThreads);
  for (int i = 0; i < tiles * kThreads; ++i) host[i] = float(i % 10);
  float *x, *y;
  cudaMalloc(&x, host.size() * sizeof(float));
  cudaMalloc(&y, kThreads * sizeof(float));
  cudaMemcpy(x, host.data(), host.size() * sizeof(float), cudaMemcpyHostToDevice);
  dot_with_reverse<<<1, kThreads>>>(x, y, tiles);
  cudaMemcpy(host.data(), y, kThreads * sizeof(float), cudaMemcpyDeviceToHost);
  std::printf("%g\n", host[0]);
  cudaFree(x);
  cudaFree(y);
}
