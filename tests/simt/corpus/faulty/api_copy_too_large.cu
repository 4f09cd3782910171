// What is wrong: the result has one element for each block, but as many as the input has are copied back.
#include <cstdio>
#include <vector>

__global__ void first_of_block(const int* x, int* firsts) {
  if (threadIdx.x == 0) firsts[blockIdx.x] = x[blockIdx.x * blockDim.x];
}

int main() {
  const int n = 512, threads = 128;
  std::vector<int> host(n, 6);
  int *x, *firsts;
  cudaMalloc(&x, n * sizeof(int));
  cudaMalloc(&firsts, n / threads * sizeof(int));  // also: api
  cudaMemcpy(x, host.data(), n * sizeof(int), cudaMemcpyHostToDevice);
  first_of_block<<<n / threads, threads>>>(x, firsts);
  cudaMemcpy(host.data(), firsts, n * sizeof(int), cudaMemcpyDeviceToHost);  // report: api
  std::printf("%d\n", host[0]);
  cudaFree(x);
  cudaFree(firsts);
}
