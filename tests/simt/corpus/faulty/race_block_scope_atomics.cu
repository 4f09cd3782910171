// What is wrong: atomicAdd_block is atomic among the threads
// of one block alone, and all blocks add to this counter.
#include <cstdio>
#include <vector>

__global__ void count_even(const int* x, int* count, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && x[i] % 2 == 0) atomicAdd_block(count, 1);  // report: race
}

int main() {
  const int n = 600;
  std::vector<int> host(n);
  for (int i = 0; i < n; ++i) host[i] = i;
  int *x, *count, answer = 0;
  cudaMalloc(&x, n * sizeof(int));
  cudaMalloc(&count, sizeof(int));
  cudaMemcpy(x, host.data(), n * sizeof(int), cudaMemcpyHostToDevice);
  cudaMemset(count, 0, sizeof(int));
  count_even<<<(n + 127) / 128, 128>>>(x, count, n);
  cudaMemcpy(&answer, count, sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("%d\n", answer);
  cudaFree(x);
  cudaFree(count);
}
