// What is wrong: lanes of one warp exchange values through shared memory without __syncwarp().
#include <cstdio>
#include <vector>

__global__ void swap_pairs(int* x) {
  __shared__ int slots[4][32];  // also: uninitialised
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  slots[warp][lane] = x[threadIdx.x];      // also: race
  x[threadIdx.x] = slots[warp][lane ^ 1];  // report: race, also: uninitialised
}

int main() {
  std::vector<int> host(128);
  for (int i = 0; i < 128; ++i) host[i] = i;
  int* x;
  cudaMalloc(&x, 128 * sizeof(int));
  cudaMemcpy(x, host.data(), 128 * sizeof(int), cudaMemcpyHostToDevice);
  swap_pairs<<<1, 128>>>(x);
  cudaMemcpy(host.data(), x, 128 * sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("%d %d\n", host[0], host[1]);
  cudaFree(x);
}
