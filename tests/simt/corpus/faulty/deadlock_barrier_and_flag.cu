// What is wrong: the second warp waits for a flag before
// the barrier, the first warp sets it after the barrier.
#include <cstdio>

__global__ void exchange(const int* x, int* y) {
  __shared__ volatile int ready;
  __shared__ int sum;
  if (threadIdx.x == 0) {
    ready = 0;
    sum = 0;
  }
  __syncthreads();
  if (threadIdx.x < 32) {
    atomicAdd(&sum, x[threadIdx.x]);
  } else {
    while (ready == 0) {  // report: deadlock
    }
    __threadfence_block();
  }
  __syncthreads();  // also: deadlock
  if (threadIdx.x == 0) {
    __threadfence_block();
    ready = 1;
  }
  if (threadIdx.x >= 32) y[threadIdx.x - 32] = sum;
}

int main() {
  int host[32], *x, *y;
  for (int i = 0; i < 32; ++i) host[i] = i;
  cudaMalloc(&x, sizeof(host));
  cudaMalloc(&y, sizeof(host));
  cudaMemcpy(x, host, sizeof(host), cudaMemcpyHostToDevice);
  cudaMemset(y, 0, sizeof(host));
  exchange<<<1, 64>>>(x, y);
  cudaMemcpy(host, y, sizeof(host), cudaMemcpyDeviceToHost);
  std::printf("%d\n", host[0]);
  cudaFree(x);
  cudaFree(y);
}
