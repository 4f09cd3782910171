// What is wrong: the barrier is inside the guard, and the last block's threads past the end never come to it.
#include <cstdio>
#include <vector>

__global__ void reverse_within_blocks(const float* x, float* y, int n) {
  __shared__ float s[64];
  const int first = blockIdx.x * blockDim.x, i = first + threadIdx.x;
  const int size = min(int(blockDim.x), n - first);
  if (i < n) {
    s[threadIdx.x] = x[i];
    __syncthreads();  // report: divergent-barrier
    y[i] = s[size - 1 - threadIdx.x];
  }
}

int main() {
  const int n = 100;
  std::vector<float> host(n, 1.0f);
  float *x, *y;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&y, n * sizeof(float));
  cudaMemcpy(x, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemset(y, 0, n * sizeof(float));
  reverse_within_blocks<<<2, 64>>>(x, y, n);
  cudaMemcpy(host.data(), y, n * sizeof(float), cudaMemcpyDeviceToHost);
  std::printf("%g\n", host[n - 1]);
  cudaFree(x);
  cudaFree(y);
}
