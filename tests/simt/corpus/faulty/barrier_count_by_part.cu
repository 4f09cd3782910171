// What is wrong: __syncthreads_count() is a barrier as well, and only the threads below n call it.
#include <cstdio>
#include <vector>

__global__ void count_larger(const float* x, float limit, int* counts, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  int count = 0;
  if (i < n) count = __syncthreads_count(x[i] > limit);  // report: divergent-barrier
  if (threadIdx.x == 0) counts[blockIdx.x] = count;
}

int main() {
  const int n = 90;
  std::vector<float> host(n);
  for (int i = 0; i < n; ++i) host[i] = float(i);
  float* x;
  int *counts, result[2] = {};
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&counts, sizeof(result));
  cudaMemcpy(x, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemset(counts, 0, sizeof(result));
  count_larger<<<2, 64>>>(x, 10.0f, counts, n);
  cudaMemcpy(result, counts, sizeof(result), cudaMemcpyDeviceToHost);
  std::printf("%d %d\n", result[0], result[1]);
  cudaFree(x);
  cudaFree(counts);
}
