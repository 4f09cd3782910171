// What is wrong: the result has `columns` rows, yet its index multiplies by `columns` as the source's does.
#include <cstdio>
#include <vector>

__global__ void transpose(const float* x, float* y, int rows, int columns) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row < rows && column < columns) {
    y[column * columns + row] = x[row * columns + column];  // report: out-of-bounds
  }
}

int main() {
  const int rows = 8, columns = 40, n = rows * columns;
  std::vector<float> host(n, 1.0f);
  float *x, *y;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&y, n * sizeof(float));  // also: out-of-bounds
  cudaMemset(y, 0, n * sizeof(float));
  cudaMemcpy(x, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  transpose<<<dim3(3, 1), dim3(16, 8)>>>(x, y, rows, columns);
  cudaMemcpy(host.data(), y, n * sizeof(float), cudaMemcpyDeviceToHost);
  std::printf("%g\n", host[0]);
  cudaFree(x);
  cudaFree(y);
}
