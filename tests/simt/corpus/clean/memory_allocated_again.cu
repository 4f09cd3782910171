// Why it is right: freed memory is not used, even where the next allocation gets the same place.
#include <cstdio>

__global__ void fill(int* x, int value) { x[threadIdx.x] = value; }

__global__ void add(int* sum, const int* x) { sum[threadIdx.x] += x[threadIdx.x]; }

int main() {
  const int n = 64, bytes = n * sizeof(int);
  int *sum, *scratch, host[n];
  cudaMalloc(&sum, bytes);
  cudaMemset(sum, 0, bytes);
  for (int round = 1; round <= 3; ++round) {
    cudaMalloc(&scratch, bytes);
    fill<<<1, n>>>(scratch, round);
    add<<<1, n>>>(sum, scratch);
    cudaFree(scratch);
  }
  cudaMemcpy(host, sum, bytes, cudaMemcpyDeviceToHost);
  std::printf("%d\n", host[0]);
  cudaFree(sum);
  cudaFree(nullptr);
  return host[0] == 6 ? 0 : 1;
}
