// What is wrong: waiting for its own copies says nothing of
// those of other threads; a barrier must follow the wait.
#include <cuda_pipeline.h>

#include <cstdio>
#include <vector>

__global__ void neighbour_means(const float* x, float* y) {
  __shared__ float tile[128];  // also: uninitialised
  const int t = threadIdx.x, first = blockIdx.x * 128;
  __pipeline_memcpy_async(&tile[t], &x[first + t], sizeof(float));  // also: race
  __pipeline_commit();
  __pipeline_wait_prior(0);
  y[first + t] = 0.5f * (tile[t] + tile[(t + 1) % 128]);  // report: race, also: uninitialised
}

int main() {
  const int n = 256;
  std::vector<float> host(n, 1.0f);
  float *x, *y;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&y, n * sizeof(float));
  cudaMemcpy(x, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  neighbour_means<<<n / 128, 128>>>(x, y);
  cudaMemcpy(host.data(), y, n * sizeof(float), cudaMemcpyDeviceToHost);
  std::printf("%g\n", host[0]);
  cudaFree(x);
  cudaFree(y);
}
