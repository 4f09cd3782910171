// Why it is right: a block returns as a whole or not at all, so that no barrier misses threads.
#include <cstdio>
#include <vector>

__global__ void sum_of_active(const int* x, const int* active, int* sums) {
  __shared__ int s[64];
  if (active[blockIdx.x] == 0) return;
  s[threadIdx.x] = x[blockIdx.x * 64 + threadIdx.x];
  __syncthreads();
  for (int offset = 32; offset > 0; offset /= 2) {
    if (threadIdx.x < offset) s[threadIdx.x] += s[threadIdx.x + offset];
    __syncthreads();
  }
  if (threadIdx.x == 0) sums[blockIdx.x] = s[0];
}

int main() {
  const int blocks = 4;
  std::vector<int> host(blocks * 64, 1), active = {1, 0, 0, 1};
  int *x, *flags, *sums;
  cudaMalloc(&x, host.size() * sizeof(int));
  cudaMalloc(&flags, blocks * sizeof(int));
  cudaMalloc(&sums, blocks * sizeof(int));
  cudaMemcpy(x, host.data(), host.size() * sizeof(int), cudaMemcpyHostToDevice);
  cudaMemcpy(flags, active.data(), blocks * sizeof(int), cudaMemcpyHostToDevice);
  cudaMemset(sums, 0, blocks * sizeof(int));
  sum_of_active<<<blocks, 64>>>(x, flags, sums);
  cudaMemcpy(host.data(), sums, blocks * sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("%d %d %d %d\n", host[0], host[1], host[2], host[3]);
  cudaFree(x);
  cudaFree(flags);
  cudaFree(sums);
  return host[0] == 64 && host[1] == 0 && host[3] == 64 ? 0 : 1;
}
