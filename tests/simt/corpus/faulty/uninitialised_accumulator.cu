// What is wrong: the kernel adds to memory that cudaMalloc returned and nobody set to zero.
#include <cstdio>
#include <vector>

__global__ void add_columns(const float* x, float* sums, int rows, int columns) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  if (column >= columns) return;
  for (int row = 0; row < rows; ++row) sums[column] += x[row * columns + column];  // report: uninitialised
}

int main() {
  const int rows = 5, columns = 50;
  std::vector<float> host(rows * columns, 1.0f);
  float *x, *sums;
  cudaMalloc(&x, host.size() * sizeof(float));
  cudaMalloc(&sums, columns * sizeof(float));  // also: uninitialised
  cudaMemcpy(x, host.data(), host.size() * sizeof(float), cudaMemcpyHostToDevice);
  add_columns<<<1, 64>>>(x, sums, rows, columns);
  cudaMemcpy(host.data(), sums, columns * sizeof(float), cudaMemcpyDeviceToHost);
  std::printf("%g\n", host[0]);
  cudaFree(x);
  cudaFree(sums);
}
