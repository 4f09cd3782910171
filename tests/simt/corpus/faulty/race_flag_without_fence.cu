// What is wrong: the flag may become visible before the data
// it announces; a __threadfence() is missing on both sides.
#include <cstdio>

__global__ void hand_over(float* data, volatile int* ready, float* result) {
  if (blockIdx.x == 0) {
    data[threadIdx.x] = 1.0f + threadIdx.x;  // also: race
    __syncthreads();
    if (threadIdx.x == 0) *ready = 1;
  } else {
    if (threadIdx.x == 0) {
      while (*ready == 0) {
      }
    }
    __syncthreads();
    result[threadIdx.x] = 2.0f * data[threadIdx.x];  // report: race
  }
}

int main() {
  float *data, *result, host[64];
  int* ready;
  cudaMalloc(&data, 64 * sizeof(float));
  cudaMalloc(&result, 64 * sizeof(float));
  cudaMalloc(&ready, sizeof(int));
  cudaMemset(ready, 0, sizeof(int));
  hand_over<<<2, 64>>>(data, ready, result);
  cudaMemcpy(host, result, sizeof(host), cudaMemcpyDeviceToHost);
  std::printf("%g\n", host[63]);
  cudaFree(data);
  cudaFree(result);
  cudaFree(ready);
}
