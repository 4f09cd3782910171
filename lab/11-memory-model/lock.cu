// The mean and the largest of all numbers: two results that belong together, so an atomic for each is not
// enough.
#include "../lab.h"

constexpr int kThreads = 64, kBlocks = 8;

struct Statistics {
  int count, sum, largest;
};

// What a thread has found, under a lock: taken by an exchange, with a fence on both sides of what it
// protects. One thread of a block takes it, as 32 lanes that wait for one of themselves may wait for ever.
__global__ void statistics_lock(const int* x, Statistics* all, int* lock, int n) {
  __shared__ int of_thread[kThreads];
  int i = blockIdx.x * kThreads + threadIdx.x;
  of_thread[threadIdx.x] = i < n ? x[i] : -1;
  __syncthreads();
  if (threadIdx.x != 0) return;
  while (atomicCAS(lock, 0, 1) != 0) {
  }
  __threadfence();  // what the last owner has written is seen
  for (int value : of_thread)
    if (value >= 0) all->count += 1, all->sum += value, all->largest = max(all->largest, value);
  __threadfence();  // what this one has written is seen before the lock is free
  atomicExch(lock, 0);
}

// Without a lock: three atomics for each block. No reader may look before the end, as they do not happen at
// once.
__global__ void statistics_atomics(const int* x, Statistics* all, int n) {
  __shared__ Statistics own;
  if (threadIdx.x == 0) own = {0, 0, 0};
  __syncthreads();
  if (int i = blockIdx.x * kThreads + threadIdx.x; i < n) {
    atomicAdd(&own.count, 1);
    atomicAdd(&own.sum, x[i]);
    atomicMax(&own.largest, x[i]);
  }
  __syncthreads();
  if (threadIdx.x != 0) return;
  atomicAdd(&all->count, own.count);
  atomicAdd(&all->sum, own.sum);
  atomicMax(&all->largest, own.largest);
}

int main() {
  const int n = 500;
  const std::vector<int> x = lab::whole_numbers(n, 1000);
  std::vector<int> expected{n, 0, 0};
  for (int value : x) expected[1] += value, expected[2] = std::max(expected[2], value);
  const lab::Array<int> from(x);
  lab::Array<int> lock(1);
  lock.clear();
  const auto clear = [](int* all) { MUST(cudaMemset(all, 0, sizeof(Statistics))); };

  lab::Table table("count, sum and largest of 500 numbers");
  table.row(
      "statistics_lock", expected, 0,
      [&](int* all) {
        statistics_lock<<<kBlocks, kThreads>>>(from, reinterpret_cast<Statistics*>(all), lock, n);
      },
      clear);
  table.row(
      "statistics_atomics", expected, 0,
      [&](int* all) {
        statistics_atomics<<<kBlocks, kThreads>>>(from, reinterpret_cast<Statistics*>(all), n);
      },
      clear);
  return table.end();
}
