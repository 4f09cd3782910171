// What is wrong: nine weights are copied into a constant array of eight.
#include <cstdio>
#include <vector>

__constant__ float filter[8];  // also: api

__global__ void convolve(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i + 8 > n) return;
  float sum = 0.0f;
  for (int j = 0; j < 8; ++j) sum += filter[j] * x[i + j];
  y[i] = sum;
}

int main() {
  const int n = 64;
  const float weights[9] = {1, 2, 3, 4, 5, 4, 3, 2, 1};
  std::vector<float> host(n, 1.0f);
  float *x, *y;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&y, n * sizeof(float));
  cudaMemset(y, 0, n * sizeof(float));
  cudaMemcpy(x, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpyToSymbol(filter, weights, sizeof(weights));  // report: api
  convolve<<<1, 64>>>(x, y, n);
  cudaMemcpy(host.data(), y, n * sizeof(float), cudaMemcpyDeviceToHost);
  std::printf("%g\n", host[0]);
  cudaFree(x);
  cudaFree(y);
}
