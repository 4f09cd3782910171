// Why it is right: __syncwarp() stands between the reads and the writes of each step.
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
    int value = s[t] + s[t + 32];
    for (int offset = 16; offset > 0; offset /= 2) {
      __syncwarp();
      s[t] = value;
      __syncwarp();
      value += s[(t + offset) % 32];
    }
    if (t == 0) sums[blockIdx.x] = value;
  }
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
  return host[0] == 128 && host[2] == 128 ? 0 : 1;
}
