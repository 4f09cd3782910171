// What is wrong: n / 256 is zero for a short array, and a grid of no blocks is an error.
#include <cstdio>

__global__ void increment(int* x, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) x[i] += 1;
}

int main() {
  const int n = 100;
  int *x, host[n];
  cudaMalloc(&x, sizeof(host));
  cudaMemset(x, 0, sizeof(host));
  increment<<<n / 256, 256>>>(x, n);  // report: api
  cudaMemcpy(host, x, sizeof(host), cudaMemcpyDeviceToHost);
  std::printf("%d\n", host[0]);
  cudaFree(x);
}
