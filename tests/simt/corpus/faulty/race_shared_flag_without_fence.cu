// What is wrong: the consumer warp sees the flag, but nothing orders the producer's items before it.
#include <cstdio>

__global__ void pipeline(const int* x, int* y) {
  __shared__ int items[32];
  __shared__ volatile int full;
  if (threadIdx.x == 0) full = 0;
  __syncthreads();
  const int lane = threadIdx.x % 32;
  if (threadIdx.x < 32) {
    items[lane] = x[lane] + 1;  // also: race
    __syncwarp();
    if (lane == 0) full = 1;
  } else {
    while (full == 0) {
    }
    y[lane] = items[31 - lane];  // report: race
  }
}

int main() {
  int host[32], *x, *y;
  for (int i = 0; i < 32; ++i) host[i] = i;
  cudaMalloc(&x, sizeof(host));
  cudaMalloc(&y, sizeof(host));
  cudaMemcpy(x, host, sizeof(host), cudaMemcpyHostToDevice);
  pipeline<<<1, 64>>>(x, y);
  cudaMemcpy(host, y, sizeof(host), cudaMemcpyDeviceToHost);
  std::printf("%d\n", host[0]);
  cudaFree(x);
  cudaFree(y);
}
