// What is wrong: a float4 is loaded from an address that is one float past a multiple of 16 bytes.
#include <cstdio>
#include <vector>

__global__ void copy_shifted(const float* x, float* y, int shift, int n) {
  const int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
  if (i + shift + 4 <= n) {
    const float4 four = *reinterpret_cast<const float4*>(x + i + shift);  // report: misaligned, also: fault
    *reinterpret_cast<float4*>(y + i) = four;                             // also: fault
  }
}

int main() {
  const int n = 256;
  std::vector<float> host(n, 1.0f);
  float *x, *y;
  cudaMalloc(&x, n * sizeof(float));  // also: misaligned
  cudaMalloc(&y, n * sizeof(float));
  cudaMemcpy(x, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemset(y, 0, n * sizeof(float));
  copy_shifted<<<1, 64>>>(x, y, 1, n);
  cudaMemcpy(host.data(), y, n * sizeof(float), cudaMemcpyDeviceToHost);
  std::printf("%g\n", host[0]);
  cudaFree(x);
  cudaFree(y);
}
