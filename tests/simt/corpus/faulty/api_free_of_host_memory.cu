// What is wrong: the host's array is given to cudaFree, which knows device memory alone.
#include <cstdio>
#include <cstdlib>

__global__ void fill(int* x) { x[threadIdx.x] = 7; }

int main() {
  int* host = static_cast<int*>(std::malloc(32 * sizeof(int)));
  int* x;
  cudaMalloc(&x, 32 * sizeof(int));
  fill<<<1, 32>>>(x);
  cudaMemcpy(host, x, 32 * sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("%d\n", host[0]);
  cudaFree(host);  // report: api
  cudaFree(x);
  std::free(host);
}
