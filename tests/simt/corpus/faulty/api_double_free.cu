// What is wrong: both the clean-up of the failed step and the one at the end free the buffer.
#include <cstdio>

__global__ void fill(int* x) { x[threadIdx.x] = threadIdx.x; }

int main() {
  int *x, host[32];
  cudaMalloc(&x, sizeof(host));  // also: api
  fill<<<1, 32>>>(x);
  cudaMemcpy(host, x, sizeof(host), cudaMemcpyDeviceToHost);
  std::printf("%d\n", host[31]);
  if (host[31] != 0) cudaFree(x);  // also: api
  cudaFree(x);                     // report: api
}
