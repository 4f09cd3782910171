// What is wrong: lanes past the end have returned, but the
// full mask still names them and their values are read.
#include <cstdio>
#include <vector>

__global__ void sum(const int* x, int* total, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;  // also: divergent-collective
  int value = x[i];
  for (int offset = 16; offset > 0; offset /= 2) {
    value += __shfl_down_sync(0xffffffff, value, offset);  // report: divergent-collective
  }
  if (threadIdx.x % 32 == 0) atomicAdd(total, value);
}

int main() {
  const int n = 84;
  std::vector<int> host(n, 1);
  int *x, *total, answer = 0;
  cudaMalloc(&x, n * sizeof(int));
  cudaMalloc(&total, sizeof(int));
  cudaMemcpy(x, host.data(), n * sizeof(int), cudaMemcpyHostToDevice);
  cudaMemset(total, 0, sizeof(int));
  sum<<<2, 64>>>(x, total, n);
  cudaMemcpy(&answer, total, sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("%d\n", answer);
  cudaFree(x);
  cudaFree(total);
}
