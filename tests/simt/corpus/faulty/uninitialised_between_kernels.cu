// What is wrong: the first kernel writes results for large elements only, the second one reads all.
#include <cstdio>
#include <vector>

__global__ void inverse_of_large(const float* x, float* inverse, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && x[i] > 0.5f) inverse[i] = 1.0f / x[i];
}

__global__ void multiply(const float* inverse, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] *= inverse[i];  // report: uninitialised
}

int main() {
  const int n = 100;
  std::vector<float> host(n);
  for (int i = 0; i < n; ++i) host[i] = i / 100.0f;
  float *x, *inverse, *y;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&inverse, n * sizeof(float));  // also: uninitialised
  cudaMalloc(&y, n * sizeof(float));
  cudaMemcpy(x, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(y, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  inverse_of_large<<<1, 128>>>(x, inverse, n);
  multiply<<<1, 128>>>(inverse, y, n);
  cudaMemcpy(host.data(), y, n * sizeof(float), cudaMemcpyDeviceToHost);
  std::printf("%g\n", host[n - 1]);
  cudaFree(x);
  cudaFree(inverse);
  cudaFree(y);
}
