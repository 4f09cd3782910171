// Block 0 sends 64 numbers to the other blocks, and raises a flag: three ways to say that what stands before
// the flag is there once the flag is seen.
#include <cuda/atomic>

#include "../lab.h"

constexpr int kCount = 64, kBlocks = 4;

// Fences. The writer's stands behind the barrier, so it holds for all that the barrier has shown to thread 0;
// the reader's stands before the barrier. The flag is volatile, so that each look is a load.
__global__ void send_by_fences(const int* x, int* y, int* message, volatile int* flag) {
  int i = threadIdx.x;
  if (blockIdx.x == 0) {
    message[i] = x[i] + 1;
    __syncthreads();
    if (i == 0) {
      __threadfence();
      *flag = 1;
    }
  } else {
    if (i == 0) {
      while (*flag == 0) {
      }
      __threadfence();
    }
    __syncthreads();
  }
  y[blockIdx.x * kCount + i] = message[i];
}

// The same in C++'s words: a store that releases, a load that acquires. What happens before the one is seen
// behind the other.
__global__ void send_by_release(const int* x, int* y, int* message, int* flag) {
  cuda::atomic_ref<int, cuda::thread_scope_device> ready(*flag);
  int i = threadIdx.x;
  if (blockIdx.x == 0) {
    message[i] = x[i] + 1;
    __syncthreads();
    if (i == 0) ready.store(1, cuda::memory_order_release);
  } else {
    if (i == 0)
      while (ready.load(cuda::memory_order_acquire) == 0) {
      }
    __syncthreads();
  }
  y[blockIdx.x * kCount + i] = message[i];
}

// Number and flag in one word of 8 bytes: who sees the one sees the other, and no order is needed.
__global__ void send_by_words(const int* x, int* y, unsigned long long* words) {
  int i = threadIdx.x;
  unsigned long long word;
  if (blockIdx.x == 0) {
    word = 1ull << 32 | unsigned(x[i] + 1);
    atomicExch(&words[i], word);
  } else {
    do {
      word = atomicAdd(&words[i], 0ull);
    } while (word >> 32 == 0);
  }
  y[blockIdx.x * kCount + i] = int(word);
}

int main() {
  const std::vector<int> x = lab::whole_numbers(kCount, 1000);
  std::vector<int> expected;
  for (int block = 0; block < kBlocks; ++block)
    for (int value : x) expected.push_back(value + 1);
  const lab::Array<int> from(x), message(kCount);
  lab::Array<int> flag(1);
  lab::Array<unsigned long long> words(kCount);
  const auto lower = [&](int*) { flag.clear(), words.clear(); };

  lab::Table table("64 numbers for each of 4 blocks");
  table.row(
      "send_by_fences", expected, 0,
      [&](int* y) { send_by_fences<<<kBlocks, kCount>>>(from, y, message, flag); }, lower);
  table.row(
      "send_by_release", expected, 0,
      [&](int* y) { send_by_release<<<kBlocks, kCount>>>(from, y, message, flag); }, lower);
  table.row(
      "send_by_words", expected, 0, [&](int* y) { send_by_words<<<kBlocks, kCount>>>(from, y, words); },
      lower);
  return table.end();
}
