// What is wrong: the place in global memory is cleared while the copy from it may still be under way.
#include <cuda_pipeline.h>

#include <cstdio>
#include <vector>

__global__ void take_messages(int* mailbox, int* y) {
  __shared__ int taken[64];
  const int t = threadIdx.x;
  __pipeline_memcpy_async(&taken[t], &mailbox[t], sizeof(int));  // report: race
  __pipeline_commit();
  mailbox[t] = 0;  // also: race
  __pipeline_wait_prior(0);
  __syncthreads();
  y[t] = taken[63 - t];
}

int main() {
  std::vector<int> host(64, 5);
  int *mailbox, *y;
  cudaMalloc(&mailbox, 64 * sizeof(int));
  cudaMalloc(&y, 64 * sizeof(int));
  cudaMemcpy(mailbox, host.data(), 64 * sizeof(int), cudaMemcpyHostToDevice);
  take_messages<<<1, 64>>>(mailbox, y);
  cudaMemcpy(host.data(), y, 64 * sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("%d\n", host[0]);
  cudaFree(mailbox);
  cudaFree(y);
}
