// What is wrong: block.sync() is for the whole block, but
// only the first warp calls it, where tile.sync() was meant.
#include <cooperative_groups.h>
#include <cstdio>
#include <vector>

namespace cg = cooperative_groups;

__global__ void sum(const int* x, int* result) {
  __shared__ int s[128];
  const cg::thread_block block = cg::this_thread_block();
  s[block.thread_rank()] = x[block.thread_rank()];
  block.sync();
  const cg::thread_block_tile<32> tile = cg::tiled_partition<32>(block);
  if (tile.meta_group_rank() == 0) {
    int value = 0;
    for (int i = tile.thread_rank(); i < 128; i += 32) value += s[i];
    s[tile.thread_rank()] = value;
    block.sync();  // report: divergent-barrier
    if (tile.thread_rank() == 0) {
      int total = 0;
      for (int i = 0; i < 32; ++i) total += s[i];
      *result = total;
    }
  }
}

int main() {
  std::vector<int> host(128, 1);
  int *x, *result, answer = 0;
  cudaMalloc(&x, 128 * sizeof(int));
  cudaMalloc(&result, sizeof(int));
  cudaMemcpy(x, host.data(), 128 * sizeof(int), cudaMemcpyHostToDevice);
  cudaMemset(result, 0, sizeof(int));
  sum<<<1, 128>>>(x, result);
  cudaMemcpy(&answer, result, sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("%d\n", answer);
  cudaFree(x);
  cudaFree(result);
}
