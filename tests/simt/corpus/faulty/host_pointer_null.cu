// What is wrong: the optional bias is a null pointer, and the kernel reads it all the same.
#include <cstdio>
#include <vector>

__global__ void add_bias(const float* x, const float* bias, float* y, int rows, int columns) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < rows * columns) y[i] = x[i] + bias[i % columns];  // report: host-pointer, also: fault
}

int main() {
  const int rows = 4, columns = 25, n = rows * columns;
  std::vector<float> host(n, 1.0f);
  float *x, *y;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&y, n * sizeof(float));
  cudaMemcpy(x, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemset(y, 0, n * sizeof(float));
  add_bias<<<1, 128>>>(x, nullptr, y, rows, columns);  // also: host-pointer
  cudaMemcpy(host.data(), y, n * sizeof(float), cudaMemcpyDeviceToHost);
  std::printf("%g\n", host[0]);
  cudaFree(x);
  cudaFree(y);
}
