// Why it is right: __syncwarp() stands between the lanes' stores, their loads, and the next stores.
#include <cstdio>
#include <vector>

__global__ void rotate_in_warp(int* x, int rounds) {
  __shared__ int slots[4][32];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  int value = x[threadIdx.x];
  for (int round = 0; round < rounds; ++round) {
    slots[warp][lane] = value;
    __syncwarp();
    value = slots[warp][(lane + 1) % 32];
    __syncwarp();
  }
  x[threadIdx.x] = value;
}

int main() {
  std::vector<int> host(128);
  for (int i = 0; i < 128; ++i) host[i] = i;
  int* x;
  cudaMalloc(&x, 128 * sizeof(int));
  cudaMemcpy(x, host.data(), 128 * sizeof(int), cudaMemcpyHostToDevice);
  rotate_in_warp<<<1, 128>>>(x, 3);
  cudaMemcpy(host.data(), x, 128 * sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("%d %d\n", host[0], host[63]);
  cudaFree(x);
  return host[0] == 3 && host[63] == 34 ? 0 : 1;
}
