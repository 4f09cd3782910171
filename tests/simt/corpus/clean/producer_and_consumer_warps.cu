// Why it is right: two warps pass items through a ring, each side with a counter behind a fence.
#include <cstdio>

constexpr int kSlots = 2;

__global__ void pass_on(const int* x, int* y, int rounds) {
  __shared__ int ring[kSlots][32];
  __shared__ volatile int produced, consumed;
  if (threadIdx.x == 0) produced = consumed = 0;
  __syncthreads();
  const int lane = threadIdx.x % 32;
  if (threadIdx.x < 32) {
    for (int round = 0; round < rounds; ++round) {
      while (consumed + kSlots <= round) {
      }
      __threadfence_block();
      ring[round % kSlots][lane] = 3 * x[round * 32 + lane];
      __syncwarp();
      if (lane == 0) {
        __threadfence_block();
        produced = round + 1;
      }
    }
  } else {
    for (int round = 0; round < rounds; ++round) {
      while (produced <= round) {
      }
      __threadfence_block();
      y[round * 32 + lane] = ring[round % kSlots][31 - lane];
      __syncwarp();
      if (lane == 0) {
        __threadfence_block();
        consumed = round + 1;
      }
    }
  }
}

int main() {
  const int rounds = 5, n = rounds * 32;
  int host[n], *x, *y;
  for (int i = 0; i < n; ++i) host[i] = i;
  cudaMalloc(&x, sizeof(host));
  cudaMalloc(&y, sizeof(host));
  cudaMemcpy(x, host, sizeof(host), cudaMemcpyHostToDevice);
  pass_on<<<1, 64>>>(x, y, rounds);
  cudaMemcpy(host, y, sizeof(host), cudaMemcpyDeviceToHost);
  std::printf("%d\n", host[n - 1]);
  cudaFree(x);
  cudaFree(y);
  return host[n - 1] == 3 * (n - 32) ? 0 : 1;
}
