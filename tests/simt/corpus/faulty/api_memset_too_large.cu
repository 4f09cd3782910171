// What is wrong: cudaMemset counts bytes, and the size in
// bytes is multiplied by the size of an element once more.
#include <cstdio>

__global__ void increment(int* x) { x[threadIdx.x] += 1; }

int main() {
  const int n = 64, bytes = n * sizeof(int);
  int *x, host[n];
  cudaMalloc(&x, bytes);                  // also: api
  cudaMemset(x, 0, bytes * sizeof(int));  // report: api
  cudaMemset(x, 0, bytes);
  increment<<<1, n>>>(x);
  cudaMemcpy(host, x, bytes, cudaMemcpyDeviceToHost);
  std::printf("%d\n", host[0]);
  cudaFree(x);
}
