// Why it is right: each tile of eight lanes shuffles among itself and synchronises itself.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include <cstdio>
#include <vector>

namespace cg = cooperative_groups;

__global__ void sum_eights(const int* x, int* sums, int* reversed) {
  __shared__ int s[128];
  const cg::thread_block block = cg::this_thread_block();
  const auto tile = cg::tiled_partition<8>(block);
  const int i = block.thread_rank();
  s[i] = x[i];
  tile.sync();
  reversed[i] = s[i - tile.thread_rank() + 7 - tile.thread_rank()];
  int sum = x[i];
  for (int offset = tile.size() / 2; offset > 0; offset /= 2) sum += tile.shfl_down(sum, offset);
  const int all = cg::reduce(tile, x[i], cg::plus<int>());
  if (tile.thread_rank() == 0) sums[tile.meta_group_rank()] = sum + all;
}

int main() {
  const int n = 128;
  std::vector<int> host(n);
  for (int i = 0; i < n; ++i) host[i] = i;
  int *x, *sums, *reversed, answer[2];
  cudaMalloc(&x, n * sizeof(int));
  cudaMalloc(&sums, n / 8 * sizeof(int));
  cudaMalloc(&reversed, n * sizeof(int));
  cudaMemcpy(x, host.data(), n * sizeof(int), cudaMemcpyHostToDevice);
  sum_eights<<<1, n>>>(x, sums, reversed);
  cudaMemcpy(answer, sums, sizeof(answer), cudaMemcpyDeviceToHost);
  cudaMemcpy(host.data(), reversed, n * sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("%d %d %d\n", answer[0], answer[1], host[8]);
  cudaFree(x);
  cudaFree(sums);
  cudaFree(reversed);
  return answer[0] == 56 && answer[1] == 184 && host[8] == 15 ? 0 : 1;
}
