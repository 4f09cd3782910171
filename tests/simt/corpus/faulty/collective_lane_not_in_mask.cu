// What is wrong: twenty lanes call the shuffle with a mask
// of sixteen; four of them are not in their own mask.
#include <cstdio>
#include <vector>

__global__ void rotate_left(const int* x, int* y, int n) {
  const unsigned mask = 0x0000ffff;
  if (threadIdx.x < n) {
    const int value = x[threadIdx.x];
    y[threadIdx.x] = __shfl_sync(mask, value, (threadIdx.x + 1) % n);  // report: divergent-collective
  }
}

int main() {
  const int n = 20;
  std::vector<int> host(n);
  for (int i = 0; i < n; ++i) host[i] = i;
  int *x, *y;
  cudaMalloc(&x, n * sizeof(int));
  cudaMalloc(&y, n * sizeof(int));
  cudaMemcpy(x, host.data(), n * sizeof(int), cudaMemcpyHostToDevice);
  cudaMemset(y, 0, n * sizeof(int));
  rotate_left<<<1, 32>>>(x, y, n);
  cudaMemcpy(host.data(), y, n * sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("%d\n", host[0]);
  cudaFree(x);
  cudaFree(y);
}
