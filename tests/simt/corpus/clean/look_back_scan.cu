// Why it is right: blocks take their numbers by an atomic, so that a block waits only
// for blocks that have begun, and each state is published by one word behind a fence.
#include <cstdio>
#include <vector>

constexpr int kThreads = 64;
enum State { kNothing = 0, kSum = 1, kPrefix = 2 };

__device__ unsigned next_block = 0;

__global__ void inclusive_scan(const int* x, int* y, int* sums, int* prefixes, volatile int* states) {
  __shared__ int s[kThreads];
  __shared__ int number, before;
  const int t = threadIdx.x;
  if (t == 0) number = atomicAdd(&next_block, 1);
  __syncthreads();
  const int block = number;
  s[t] = x[block * kThreads + t];
  __syncthreads();
  for (int offset = 1; offset < kThreads; offset *= 2) {
    const int left = t >= offset ? s[t - offset] : 0;
    __syncthreads();
    s[t] += left;
    __syncthreads();
  }
  if (t == 0) {
    const int sum = s[kThreads - 1];
    sums[block] = sum;
    __threadfence();
    states[block] = kSum;
    int prefix = 0;
    for (int other = block - 1; other >= 0; --other) {
      int state;
      do state = states[other];
      while (state == kNothing);
      __threadfence();
      if (state == kPrefix) {
        prefix += prefixes[other];
        break;
      }
      prefix += sums[other];
    }
    prefixes[block] = prefix + sum;
    __threadfence();
    states[block] = kPrefix;
    before = prefix;
  }
  __syncthreads();
  y[block * kThreads + t] = before + s[t];
}

int main() {
  const int blocks = 5, n = blocks * kThreads;
  std::vector<int> host(n, 1);
  int *x, *y, *memory;
  cudaMalloc(&x, n * sizeof(int));
  cudaMalloc(&y, n * sizeof(int));
  cudaMalloc(&memory, 3 * blocks * sizeof(int));
  cudaMemcpy(x, host.data(), n * sizeof(int), cudaMemcpyHostToDevice);
  cudaMemset(memory, 0, 3 * blocks * sizeof(int));
  inclusive_scan<<<blocks, kThreads>>>(x, y, memory, memory + blocks, memory + 2 * blocks);
  cudaMemcpy(host.data(), y, n * sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("%d\n", host[n - 1]);
  cudaFree(x);
  cudaFree(y);
  cudaFree(memory);
  return host[n - 1] == n && host[100] == 101 ? 0 : 1;
}
