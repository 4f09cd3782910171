// What is wrong: the input is freed before the kernel that reads it is launched.
#include <cstdio>
#include <vector>

__global__ void add_one(const int* x, int* y) {
  y[threadIdx.x] = x[threadIdx.x] + 1;  // report: use-after-free
}

int main() {
  std::vector<int> host(64, 5);
  int *x, *y;
  cudaMalloc(&x, 64 * sizeof(int));  // also: use-after-free
  cudaMalloc(&y, 64 * sizeof(int));
  cudaMemcpy(x, host.data(), 64 * sizeof(int), cudaMemcpyHostToDevice);
  cudaFree(x);  // also: use-after-free
  add_one<<<1, 64>>>(x, y);
  cudaMemcpy(host.data(), y, 64 * sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("%d\n", host[0]);
  cudaFree(y);
}
