// What is wrong: __threadfence_block() orders for the
// threads of the block, but another block reads the results.
#include <cstdio>

__global__ void sum_and_finish(const int* x, int* partial, unsigned* tickets, int* total) {
  if (threadIdx.x != 0) return;
  int sum = 0;
  for (int i = 0; i < 16; ++i) sum += x[blockIdx.x * 16 + i];
  partial[blockIdx.x] = sum;  // also: race
  __threadfence_block();
  if (atomicInc(tickets, gridDim.x - 1) == gridDim.x - 1) {
    __threadfence_block();
    int result = 0;
    for (int b = 0; b < gridDim.x; ++b) result += partial[b];  // report: race
    *total = result;
  }
}

int main() {
  int host[64], *x, *partial, *total, answer = 0;
  unsigned* tickets;
  for (int i = 0; i < 64; ++i) host[i] = i;
  cudaMalloc(&x, sizeof(host));
  cudaMalloc(&partial, 4 * sizeof(int));
  cudaMalloc(&total, sizeof(int));
  cudaMalloc(&tickets, sizeof(unsigned));
  cudaMemcpy(x, host, sizeof(host), cudaMemcpyHostToDevice);
  cudaMemset(tickets, 0, sizeof(unsigned));
  sum_and_finish<<<4, 32>>>(x, partial, tickets, total);
  cudaMemcpy(&answer, total, sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("%d\n", answer);
  cudaFree(x);
  cudaFree(partial);
  cudaFree(total);
  cudaFree(tickets);
}
