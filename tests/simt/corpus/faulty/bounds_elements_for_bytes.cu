// What is wrong: cudaMalloc takes bytes, and the number of elements was given.
#include <cstdio>

__global__ void fill(double* values, double first, double step, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) values[i] = first + i * step;  // report: out-of-bounds
}

int main() {
  const int n = 128;
  double* values;
  double host[16];
  cudaMalloc(&values, n);  // also: out-of-bounds
  fill<<<1, n>>>(values, 1.0, 0.5, n);
  cudaMemcpy(host, values, sizeof(host), cudaMemcpyDeviceToHost);
  std::printf("%g\n", host[15]);
  cudaFree(values);
}
