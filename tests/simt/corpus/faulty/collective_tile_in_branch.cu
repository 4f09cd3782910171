// What is wrong: a shuffle of a 32-lane tile stands in a branch that only some of the tile's lanes take.
#include <cooperative_groups.h>
#include <cstdio>
#include <vector>

namespace cg = cooperative_groups;

__global__ void sum_large(const int* x, int* total, int n) {
  const auto tile = cg::tiled_partition<32>(cg::this_thread_block());
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && x[i] > 10) {
    int sum = x[i];
    for (int offset = 16; offset > 0; offset /= 2) {
      sum += tile.shfl_down(sum, offset);  // report: divergent-collective
    }
    if (tile.thread_rank() == 0) atomicAdd(total, sum);
  }
}

int main() {
  const int n = 64;
  std::vector<int> host(n);
  for (int i = 0; i < n; ++i) host[i] = i % 20;
  int *x, *total, answer = 0;
  cudaMalloc(&x, n * sizeof(int));
  cudaMalloc(&total, sizeof(int));
  cudaMemcpy(x, host.data(), n * sizeof(int), cudaMemcpyHostToDevice);
  cudaMemset(total, 0, sizeof(int));
  sum_large<<<1, n>>>(x, total, n);
  cudaMemcpy(&answer, total, sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("%d\n", answer);
  cudaFree(x);
  cudaFree(total);
}
