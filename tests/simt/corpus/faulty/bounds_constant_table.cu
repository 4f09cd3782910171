// What is wrong: a filter of radius 2 has five weights, and the loop takes six.
#include <cstdio>
#include <vector>

constexpr int kWeights = 5;
__constant__ float weights[kWeights];  // also: out-of-bounds

__global__ void filter(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i + kWeights >= n) return;
  float sum = 0.0f;
  for (int j = 0; j <= kWeights; ++j) sum += weights[j] * x[i + j];  // report: out-of-bounds
  y[i] = sum;
}

int main() {
  const int n = 100;
  const float binomial[kWeights] = {1, 4, 6, 4, 1};
  std::vector<float> host(n, 1.0f);
  float *x, *y;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&y, n * sizeof(float));
  cudaMemcpy(x, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemset(y, 0, n * sizeof(float));
  cudaMemcpyToSymbol(weights, binomial, sizeof(binomial));
  filter<<<1, 128>>>(x, y, n);
  cudaMemcpy(host.data(), y, n * sizeof(float), cudaMemcpyDeviceToHost);
  std::printf("%g\n", host[0]);
  cudaFree(x);
  cudaFree(y);
}
