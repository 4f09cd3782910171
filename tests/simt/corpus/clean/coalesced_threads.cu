// Why it is right: the lanes that are together in the branch
// form a group, and the group's leader adds for them.
#include <cooperative_groups.h>
#include <cstdio>
#include <vector>

namespace cg = cooperative_groups;

__global__ void keep_even(const int* x, int* kept, int* count, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && x[i] % 2 == 0) {
    const cg::coalesced_group together = cg::coalesced_threads();
    int first = 0;
    if (together.thread_rank() == 0) first = atomicAdd(count, int(together.size()));
    first = together.shfl(first, 0);
    kept[first + together.thread_rank()] = x[i];
  }
}

int main() {
  const int n = 200;
  std::vector<int> host(n);
  for (int i = 0; i < n; ++i) host[i] = i;
  int *x, *kept, *count, answer = 0;
  cudaMalloc(&x, n * sizeof(int));
  cudaMalloc(&kept, n * sizeof(int));
  cudaMalloc(&count, sizeof(int));
  cudaMemcpy(x, host.data(), n * sizeof(int), cudaMemcpyHostToDevice);
  cudaMemset(count, 0, sizeof(int));
  keep_even<<<2, 128>>>(x, kept, count, n);
  cudaMemcpy(&answer, count, sizeof(int), cudaMemcpyDeviceToHost);
  cudaMemcpy(host.data(), kept, answer * sizeof(int), cudaMemcpyDeviceToHost);
  int sum = 0;
  for (int i = 0; i < answer; ++i) sum += host[i];
  std::printf("%d kept, sum %d\n", answer, sum);
  cudaFree(x);
  cudaFree(kept);
  cudaFree(count);
  return answer == 100 && sum == 9900 ? 0 : 1;
}
