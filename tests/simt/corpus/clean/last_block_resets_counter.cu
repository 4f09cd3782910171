// Why it is right: the block that draws the last ticket is alone with the counter, which it sets to zero. A
// fence stands between each partial sum and its ticket, as in the programming guide of CUDA.
#include <cstdio>
#include <vector>

__device__ unsigned finished = 0;

__global__ void sum(const int* x, volatile int* partial, int* total) {
  __shared__ int mine;
  __shared__ bool last;
  if (threadIdx.x == 0) mine = 0;
  __syncthreads();
  atomicAdd(&mine, x[blockIdx.x * 64 + threadIdx.x]);
  __syncthreads();
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = mine;
    __threadfence();
    last = atomicAdd(&finished, 1u) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last || threadIdx.x > 0) return;
  int all = 0;
  for (unsigned block = 0; block < gridDim.x; ++block) all += partial[block];
  *total = all;
  finished = 0;
}

int main() {
  const int blocks = 6, n = blocks * 64;
  std::vector<int> host(n, 1);
  int *x, *partial, *total, answer = 0;
  cudaMalloc(&x, n * sizeof(int));
  cudaMalloc(&partial, blocks * sizeof(int));
  cudaMalloc(&total, sizeof(int));
  cudaMemcpy(x, host.data(), n * sizeof(int), cudaMemcpyHostToDevice);
  for (int round = 0; round < 2; ++round) sum<<<blocks, 64>>>(x, partial, total);
  cudaMemcpy(&answer, total, sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("%d of %d\n", answer, n);
  cudaFree(x);
  cudaFree(partial);
  cudaFree(total);
  return answer == n ? 0 : 1;
}
