// A CUDA program as a user of the package builds it: it ends with 0 when its numbers are right.
#include <cuda_runtime.h>

#include "kernels.h"

int main() {
  constexpr int n = 1000;
  static float host[n];
  for (int i = 0; i < n; ++i) host[i] = i;
  float* x;
  if (cudaMalloc(&x, sizeof host) != cudaSuccess) return 1;
  cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);
  scale(x, n);
  cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost);
  for (int i = 0; i < n; ++i)
    if (host[i] != FACTOR * i) return 2;
  return cudaFree(x) == cudaSuccess ? 0 : 3;
}
