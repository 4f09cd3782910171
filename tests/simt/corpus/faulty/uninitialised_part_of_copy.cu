// What is wrong: the copy counts elements where it needs
// bytes, and three quarters of the input are never written.
#include <cstdio>
#include <vector>

__global__ void negate(const int* x, int* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = -x[i];  // report: uninitialised
}

int main() {
  const int n = 256;
  std::vector<int> host(n, 9);
  int *x, *y;
  cudaMalloc(&x, n * sizeof(int));  // also: uninitialised
  cudaMalloc(&y, n * sizeof(int));
  cudaMemcpy(x, host.data(), n, cudaMemcpyHostToDevice);
  negate<<<2, 128>>>(x, y, n);
  cudaMemcpy(host.data(), y, n * sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("%d\n", host[n - 1]);
  cudaFree(x);
  cudaFree(y);
}
