// What is wrong: the counter of the atomic additions starts at whatever its memory holds.
#include <cstdio>
#include <vector>

__global__ void count_zeros(const int* x, unsigned* count, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && x[i] == 0) atomicAdd(count, 1u);  // report: uninitialised
}

int main() {
  const int n = 300;
  std::vector<int> host(n);
  for (int i = 0; i < n; ++i) host[i] = i % 4;
  int* x;
  unsigned *count, answer = 0;
  cudaMalloc(&x, n * sizeof(int));
  cudaMalloc(&count, sizeof(unsigned));  // also: uninitialised
  cudaMemcpy(x, host.data(), n * sizeof(int), cudaMemcpyHostToDevice);
  count_zeros<<<3, 128>>>(x, count, n);
  cudaMemcpy(&answer, count, sizeof(unsigned), cudaMemcpyDeviceToHost);
  std::printf("%u\n", answer);
  cudaFree(x);
  cudaFree(count);
}
