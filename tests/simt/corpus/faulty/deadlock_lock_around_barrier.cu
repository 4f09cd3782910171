// What is wrong: all threads of the block queue for the lock, and its holder waits for them at a barrier.
#include <cstdio>

__device__ int lock = 0;

__global__ void add_in_turn(int* values, int* total) {
  __shared__ int sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  while (atomicCAS(&lock, 0, 1) != 0) {  // report: deadlock
  }
  __threadfence();
  atomicAdd(&sum, values[threadIdx.x]);
  __syncthreads();  // also: deadlock
  if (threadIdx.x == 0) *total += sum;
  __threadfence();
  atomicExch(&lock, 0);
}

int main() {
  int host[64], *values, *total, answer = 0;
  for (int& value : host) value = 1;
  cudaMalloc(&values, sizeof(host));
  cudaMalloc(&total, sizeof(int));
  cudaMemcpy(values, host, sizeof(host), cudaMemcpyHostToDevice);
  cudaMemset(total, 0, sizeof(int));
  add_in_turn<<<1, 64>>>(values, total);
  cudaMemcpy(&answer, total, sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("%d\n", answer);
  cudaFree(values);
  cudaFree(total);
}
