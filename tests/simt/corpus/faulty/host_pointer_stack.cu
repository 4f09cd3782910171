// What is wrong: the kernel gets the address of a variable on the host's stack for its result.
#include <cstdio>
#include <vector>

__global__ void count_ones(const int* x, int* count, int n) {
  const int i = threadIdx.x;
  if (i < n && x[i] == 1) atomicAdd(count, 1);  // report: host-pointer
}

int main() {
  const int n = 64;
  std::vector<int> host(n, 1);
  int* x;
  int count = 0;
  cudaMalloc(&x, n * sizeof(int));
  cudaMemcpy(x, host.data(), n * sizeof(int), cudaMemcpyHostToDevice);
  count_ones<<<1, n>>>(x, &count, n);  // also: host-pointer
  cudaDeviceSynchronize();
  std::printf("%d\n", count);
  cudaFree(x);
}
