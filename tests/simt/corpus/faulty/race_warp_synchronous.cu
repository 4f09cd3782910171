// What is wrong: the last steps count on the lanes of a
// warp being in step, which they need not be since Volta.
#include <cstdio>
#include <vector>

__global__ void sum_blocks(const int* x, int* sums) {
  __shared__ int s[128];
  const int t = threadIdx.x;
  s[t] = x[blockIdx.x * 128 + t];
  __syncthreads();
  if (t < 64) s[t] += s[t + 64];
  __syncthreads();
  if (t < 32) {
    s[t] += s[t + 32];              // also: race
    if (t < 16) s[t] += s[t + 16];  // report: race
    if (t < 8) s[t] += s[t + 8];    // also: race
    if (t < 4) s[t] += s[t + 4];    // also: race
    if (t < 2) s[t] += s[t + 2];    // also: race
    if (t < 1) s[t] += s[t + 1];    // also: race
  }
  if (t == 0) sums[blockIdx.x] = s[0];
}

int main() {
  const int blocks = 3;
  std::vector<int> host(blocks * 128, 1);
  int *x, *sums;
  cudaMalloc(&x, host.size() * sizeof(int));
  cudaMalloc(&sums, blocks * sizeof(int));
  cudaMemcpy(x, host.data(), host.size() * sizeof(int), cudaMemcpyHostToDevice);
  sum_blocks<<<blocks, 128>>>(x, sums);
  cudaMemcpy(host.data(), sums, blocks * sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("%d\n", host[0]);
  cudaFree(x);
  cudaFree(sums);
}
