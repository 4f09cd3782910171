// What is wrong: the guard lets the thread with i == n through,
// so that one element past the end is read and written.
#include <cstdio>
#include <vector>

__global__ void saxpy(float a, const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i <= n) y[i] = a * x[i] + y[i];  // report: out-of-bounds
}

int main() {
  const int n = 100;
  std::vector<float> host(n, 1.0f);
  float *x, *y;
  cudaMalloc(&x, n * sizeof(float));  // also: out-of-bounds
  cudaMalloc(&y, n * sizeof(float));  // also: out-of-bounds
  cudaMemcpy(x, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(y, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  saxpy<<<2, 64>>>(2.0f, x, y, n);
  cudaMemcpy(host.data(), y, n * sizeof(float), cudaMemcpyDeviceToHost);
  std::printf("%g\n", host[n - 1]);
  cudaFree(x);
  cudaFree(y);
}
