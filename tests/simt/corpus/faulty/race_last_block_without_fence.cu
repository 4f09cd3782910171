// What is wrong: nothing makes a block's partial sum visible
// before its ticket, so the last block may read old sums.
#include <cstdio>
#include <vector>

__device__ unsigned finished = 0;

__global__ void sum(const int* x, int* partial, int* total) {
  __shared__ int s[128];
  __shared__ bool last;
  s[threadIdx.x] = x[blockIdx.x * 128 + threadIdx.x];
  __syncthreads();
  for (int offset = 64; offset > 0; offset /= 2) {
    if (threadIdx.x < offset) s[threadIdx.x] += s[threadIdx.x + offset];
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = s[0];  // also: race
    last = atomicAdd(&finished, 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    int result = 0;
    for (int b = 0; b < gridDim.x; ++b) result += partial[b];  // report: race
    *total = result;
  }
}

int main() {
  const int blocks = 6, n = blocks * 128;
  std::vector<int> host(n, 1);
  int *x, *partial, *total, answer = 0;
  cudaMalloc(&x, n * sizeof(int));
  cudaMalloc(&partial, blocks * sizeof(int));
  cudaMalloc(&total, sizeof(int));
  cudaMemcpy(x, host.data(), n * sizeof(int), cudaMemcpyHostToDevice);
  sum<<<blocks, 128>>>(x, partial, total);
  cudaMemcpy(&answer, total, sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("%d of %d\n", answer, n);
  cudaFree(x);
  cudaFree(partial);
  cudaFree(total);
}
