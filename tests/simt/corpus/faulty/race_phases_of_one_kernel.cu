// What is wrong: the second phase reads what other blocks write
// in the first; __syncthreads() waits for one block alone.
#include <cstdio>
#include <vector>

__global__ void square_and_smooth(const float* x, float* squares, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) squares[i] = x[i] * x[i];  // also: race
  __syncthreads();
  if (i > 0 && i < n - 1) {
    y[i] = squares[i - 1] + squares[i] + squares[i + 1];  // report: race, also: uninitialised
  }
}

int main() {
  const int n = 300;
  std::vector<float> host(n, 2.0f);
  float *x, *squares, *y;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&squares, n * sizeof(float));  // also: uninitialised
  cudaMalloc(&y, n * sizeof(float));
  cudaMemcpy(x, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemset(y, 0, n * sizeof(float));
  square_and_smooth<<<(n + 63) / 64, 64>>>(x, squares, y, n);
  cudaMemcpy(host.data(), y, n * sizeof(float), cudaMemcpyDeviceToHost);
  std::printf("%g\n", host[64]);
  cudaFree(x);
  cudaFree(squares);
  cudaFree(y);
}
