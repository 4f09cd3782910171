// Why it is right: a fence stands between each partial sum
// and its ticket, and another behind the last ticket.
#include <cstdio>
#include <vector>

__device__ unsigned finished = 0;

__device__ int block_sum(int value, int* s) {
  s[threadIdx.x] = value;
  __syncthreads();
  for (int offset = blockDim.x / 2; offset > 0; offset /= 2) {
    if (threadIdx.x < offset) s[threadIdx.x] += s[threadIdx.x + offset];
    __syncthreads();
  }
  return s[0];
}

__global__ void sum(const int* x, int* partial, int* total) {
  __shared__ int s[128];
  __shared__ bool last;
  const int mine = block_sum(x[blockIdx.x * 128 + threadIdx.x], s);
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = mine;
    __threadfence();
    last = atomicInc(&finished, gridDim.x - 1) == gridDim.x - 1;
    __threadfence();
  }
  __syncthreads();
  if (!last) return;
  const int all = block_sum(threadIdx.x < gridDim.x ? partial[threadIdx.x] : 0, s);
  if (threadIdx.x == 0) *total = all;
}

int main() {
  const int blocks = 6, n = blocks * 128;
  std::vector<int> host(n, 1);
  int *x, *partial, *total, answer = 0;
  cudaMalloc(&x, n * sizeof(int));
  cudaMalloc(&partial, blocks * sizeof(int));
  cudaMalloc(&total, sizeof(int));
  cudaMemcpy(x, host.data(), n * sizeof(int), cudaMemcpyHostToDevice);
  for (int round = 0; round < 2; ++round) sum<<<blocks, 128>>>(x, partial, total);
  cudaMemcpy(&answer, total, sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("%d of %d\n", answer, n);
  cudaFree(x);
  cudaFree(partial);
  cudaFree(total);
  return answer == n ? 0 : 1;
}
