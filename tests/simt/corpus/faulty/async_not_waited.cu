// What is wrong: the asynchronous copies are committed, but nobody waits for them; a barrier does not.
#include <cuda_pipeline.h>

#include <cstdio>
#include <vector>

__global__ void reverse(const float* x, float* y) {
  __shared__ float tile[128];                                                   // also: uninitialised
  __pipeline_memcpy_async(&tile[threadIdx.x], &x[threadIdx.x], sizeof(float));  // also: race
  __pipeline_commit();
  __syncthreads();
  y[threadIdx.x] = tile[127 - threadIdx.x];  // report: race, also: uninitialised
}

int main() {
  std::vector<float> host(128, 1.0f);
  float *x, *y;
  cudaMalloc(&x, 128 * sizeof(float));
  cudaMalloc(&y, 128 * sizeof(float));
  cudaMemcpy(x, host.data(), 128 * sizeof(float), cudaMemcpyHostToDevice);
  reverse<<<1, 128>>>(x, y);
  cudaMemcpy(host.data(), y, 128 * sizeof(float), cudaMemcpyDeviceToHost);
  std::printf("%g\n", host[0]);
  cudaFree(x);
  cudaFree(y);
}
