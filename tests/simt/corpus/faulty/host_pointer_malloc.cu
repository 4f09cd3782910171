// What is wrong: the input lies in the host's memory, from malloc, where a kernel cannot read it.
#include <cstdio>
#include <cstdlib>

__global__ void twice(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2.0f * x[i];  // report: host-pointer
}

int main() {
  const int n = 100;
  float* x = static_cast<float*>(std::malloc(n * sizeof(float)));  // also: host-pointer
  float* y;
  for (int i = 0; i < n; ++i) x[i] = float(i);
  cudaMalloc(&y, n * sizeof(float));
  cudaMemset(y, 0, n * sizeof(float));
  twice<<<1, 128>>>(x, y, n);  // also: host-pointer
  cudaMemcpy(x, y, n * sizeof(float), cudaMemcpyDeviceToHost);
  std::printf("%g\n", x[n - 1]);
  cudaFree(y);
  std::free(x);
}
