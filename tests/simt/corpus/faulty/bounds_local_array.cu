// What is wrong: the loop over a thread's four results runs to four inclusive.
#include <cstdio>
#include <vector>

constexpr int kPerThread = 4;

__global__ void running_products(const int* x, int* y) {
  int results[kPerThread];  // also: out-of-bounds
  const int first = threadIdx.x * kPerThread;
  int product = 1;
  for (int j = 0; j < kPerThread; ++j) results[j] = product *= x[first + j];
  for (int j = 0; j < kPerThread; ++j) {
    y[first + j] = results[j] + results[j + 1];  // report: out-of-bounds, also: uninitialised
  }
}

int main() {
  std::vector<int> host(32 * kPerThread, 2);
  int *x, *y;
  cudaMalloc(&x, host.size() * sizeof(int));
  cudaMalloc(&y, host.size() * sizeof(int));
  cudaMemcpy(x, host.data(), host.size() * sizeof(int), cudaMemcpyHostToDevice);
  running_products<<<1, 32>>>(x, y);
  cudaMemcpy(host.data(), y, host.size() * sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("%d\n", host[0]);
  cudaFree(x);
  cudaFree(y);
}
