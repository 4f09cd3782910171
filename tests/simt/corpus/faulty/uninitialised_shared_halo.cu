// What is wrong: the halo at the ends of the signal is left out instead of being set to zero.
#include <cstdio>
#include <vector>

__global__ void smooth(const float* x, float* y, int n) {
  __shared__ float s[64 + 2];  // also: uninitialised
  const int i = blockIdx.x * 64 + threadIdx.x, t = threadIdx.x + 1;
  s[t] = x[i];
  if (threadIdx.x == 0 && i > 0) s[0] = x[i - 1];
  if (threadIdx.x == 63 && i < n - 1) s[65] = x[i + 1];
  __syncthreads();
  y[i] = (s[t - 1] + s[t] + s[t + 1]) / 3;  // report: uninitialised
}

int main() {
  const int n = 256;
  std::vector<float> host(n, 3.0f);
  float *x, *y;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&y, n * sizeof(float));
  cudaMemcpy(x, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  smooth<<<n / 64, 64>>>(x, y, n);
  cudaMemcpy(host.data(), y, n * sizeof(float), cudaMemcpyDeviceToHost);
  std::printf("%g\n", host[0]);
  cudaFree(x);
  cudaFree(y);
}
