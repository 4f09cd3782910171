// What is wrong: the number of blocks is rounded up, and the
// kernel has no guard for the last block's spare threads.
#include <cstdio>
#include <vector>

__global__ void square(float* x) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  x[i] = x[i] * x[i];  // report: out-of-bounds
}

int main() {
  const int n = 150, threads = 64;
  std::vector<float> host(n, 3.0f);
  float* x;
  cudaMalloc(&x, n * sizeof(float));  // also: out-of-bounds
  cudaMemcpy(x, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  square<<<(n + threads - 1) / threads, threads>>>(x);
  cudaMemcpy(host.data(), x, n * sizeof(float), cudaMemcpyDeviceToHost);
  std::printf("%g\n", host[n - 1]);
  cudaFree(x);
}
