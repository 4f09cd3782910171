// What is wrong: blocks without work return, and the others wait for them at the grid's barrier for ever.
#include <cooperative_groups.h>
#include <cstdio>

namespace cg = cooperative_groups;

__global__ void shift(int* x, int* y, int n) {
  cg::grid_group grid = cg::this_grid();
  const int first = blockIdx.x * blockDim.x;
  if (first >= n) return;  // also: deadlock
  const int i = first + threadIdx.x;
  if (i < n) x[i] = i;
  grid.sync();  // report: deadlock
  if (i < n) y[i] = x[(i + 1) % n];
}

int main() {
  int n = 100, *x, *y, host[100] = {};
  cudaMalloc(&x, n * sizeof(int));
  cudaMalloc(&y, n * sizeof(int));
  cudaMemset(y, 0, n * sizeof(int));
  void* arguments[] = {&x, &y, &n};
  cudaLaunchCooperativeKernel((void*)shift, dim3(4), dim3(64), arguments, 0, 0);
  cudaMemcpy(host, y, n * sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("%d\n", host[0]);
  cudaFree(x);
  cudaFree(y);
}
