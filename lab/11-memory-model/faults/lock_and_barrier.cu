// A whole block works under a lock of the grid, from taking to release. Who waits for whom?
#include "../../lab.h"

constexpr int kThreads = 64;

__global__ void add_rows(const int* x, int* sums, int* lock) {
  bool mine = false;
  while (!mine) mine = atomicCAS(lock, 0, 1) == 0;  // until this thread has it
  __syncthreads();                                  // now the block has it
  sums[threadIdx.x] += x[blockIdx.x * kThreads + threadIdx.x];
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) atomicExch(lock, 0);
}

int main() {
  const int blocks = 4;
  const std::vector<int> x = lab::whole_numbers(blocks * kThreads, 100);
  std::vector<int> expected(kThreads);
  for (int i = 0; i < blocks * kThreads; ++i) expected[i % kThreads] += x[i];
  const lab::Array<int> from(x);
  lab::Array<int> lock(1);
  lock.clear();
  lab::Table table("4 rows of 64 numbers");
  table.row(
      "add_rows", expected, 0, [&](int* sums) { add_rows<<<blocks, kThreads>>>(from, sums, lock); },
      [](int* sums) { MUST(cudaMemset(sums, 0, kThreads * sizeof(int))); });
  return table.end();
}
