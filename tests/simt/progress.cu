// Threads that wait for others by looking again and again.
#include "tests/simt/kernels.h"

namespace treadle::TREADLE_TARGET {
namespace {

/// The first thread waits for the last one, which has another warp.
__global__ void wait_for_later_warp_kernel(int* flag, int* out) {
  if (threadIdx.x == 0) {
    while (atomicAdd(flag, 0) == 0) {
    }
    *out = 7;
  }
  if (threadIdx.x == blockDim.x - 1) atomicExch(flag, 1);
  __syncthreads();
}

/// Block b waits for block b + 1.
__global__ void wait_for_later_block_kernel(int* flags, int* order) {
  if (threadIdx.x == 0) {
    if (blockIdx.x + 1 < gridDim.x)
      while (atomicCAS(&flags[blockIdx.x + 1], 1, 1) == 0) {
      }
    order[blockIdx.x] = atomicAdd(&flags[gridDim.x], 1);
    atomicExch(&flags[blockIdx.x], 1);
  }
}

__device__ void meet_all_blocks(unsigned* arrived, unsigned phase) {
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd(arrived, 1u);
    while (atomicAdd(arrived, 0u) < phase * gridDim.x) __nanosleep(20);
    __threadfence();
  }
  __syncthreads();
}

/// Rotates x by a block, `rounds` times, with a barrier of the kernel's own between the blocks.
__global__ void rotate_blocks_kernel(float* x, unsigned* arrived, int rounds) {
  __shared__ float kept[64];
  const int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
  unsigned phase = 0;
  for (int round = 0; round < rounds; ++round) {
    kept[threadIdx.x] = x[i];
    meet_all_blocks(arrived, ++phase);
    x[(i + blockDim.x) % n] = kept[threadIdx.x];
    meet_all_blocks(arrived, ++phase);
  }
}

/// An inclusive scan in one pass: each block looks back at those before it, which have said `sum << 2 |
/// state`, state 1 for their own sum, 2 for that of all up to them.
__global__ void look_back_scan_kernel(const int* x, int* y, int* words) {
  __shared__ int before;
  __shared__ int values[64];
  values[threadIdx.x] = x[blockIdx.x * blockDim.x + threadIdx.x];
  __syncthreads();
  if (threadIdx.x == 0) {
    for (unsigned i = 1; i < blockDim.x; ++i) values[i] += values[i - 1];
    const int own = values[blockDim.x - 1];
    atomicExch(&words[blockIdx.x], own << 2 | 1);
    int sum = 0;
    for (int b = static_cast<int>(blockIdx.x) - 1; b >= 0;) {
      const int word = atomicAdd(&words[b], 0);
      if (word == 0) continue;
      sum += word >> 2;
      if ((word & 3) == 2) break;
      --b;
    }
    atomicExch(&words[blockIdx.x], (sum + own) << 2 | 2);
    before = sum;
  }
  __syncthreads();
  y[blockIdx.x * blockDim.x + threadIdx.x] = before + values[threadIdx.x];
}

/// Every thread takes a lock that one thread of the whole grid holds at a time.
__global__ void lock_by_all_threads_kernel(int* lock, int* counter) {
  bool done = false;
  while (!done) {
    if (atomicExch(lock, 1) == 0) {
      *counter = *counter + 1;
      __threadfence();
      atomicExch(lock, 0);
      done = true;
    }
  }
}

/// Looks for a flag that nobody sets, so many times.
__global__ void look_so_often_kernel(int* flag, int* looks, int times) {
  int count = 0;
  while (count < times && atomicAdd(flag, 0) == 0) ++count;
  looks[threadIdx.x] = count;
}

/// Looks at all flags in turn; block 0 sets them, one after another.
__global__ void look_at_many_kernel(int* flags, int n, int* out) {
  if (threadIdx.x == 1) {
    for (int i = 0; i < n; ++i) atomicExch(&flags[i], 1);
    return;
  }
  int set;
  do {
    set = 0;
    for (int i = 0; i < n; ++i) set += atomicAdd(&flags[i], 0);
  } while (set < n);
  *out = set;
}

__global__ void wait_for_nobody_kernel(int* flag) {
  if (threadIdx.x < 2)
    while (atomicAdd(flag, 0) == 0) {
    }
  __syncthreads();
}

__global__ void wait_in_independent_kernel(int* flags) {
  const unsigned i = blockIdx.x;
  if (threadIdx.x > 0) return;
  if (i + 1 < gridDim.x)
    while (atomicAdd(&flags[i + 1], 0) == 0) {
    }
  atomicExch(&flags[i], 1);
}

}  // namespace

void wait_for_later_warp(stream_t stream, int* flag, int* out) {
  launch<wait_for_later_warp_kernel>(stream, 1, 96, 0, flag, out);
}

void wait_for_later_block(stream_t stream, int* flags, int* order, int blocks) {
  launch<wait_for_later_block_kernel>(stream, blocks, 32, 0, flags, order);
}

void rotate_blocks(stream_t stream, float* x, unsigned* arrived, int rounds, int blocks) {
  launch<rotate_blocks_kernel>(stream, blocks, 64, 0, x, arrived, rounds);
}

void look_back_scan(stream_t stream, const int* x, int* y, int* words, int blocks) {
  launch<look_back_scan_kernel>(stream, blocks, 64, 0, x, y, words);
}

void lock_by_all_threads(stream_t stream, int* lock, int* counter, int blocks) {
  launch<lock_by_all_threads_kernel>(stream, blocks, 64, 0, lock, counter);
}

void look_so_often(stream_t stream, int* flag, int* looks, int times) {
  launch<look_so_often_kernel>(stream, 1, 4, 0, flag, looks, times);
}

void look_at_many(stream_t stream, int* flags, int n, int* out) {
  launch<look_at_many_kernel>(stream, 1, 2, 0, flags, n, out);
}

void wait_for_nobody(stream_t stream, int* flag, int blocks) {
  launch<wait_for_nobody_kernel>(stream, blocks, 64, 0, flag);
}

void wait_in_independent(stream_t stream, int* flags, int blocks) {
  launch<wait_in_independent_kernel, independent>(stream, blocks, 32, 0, flags);
}

}  // namespace treadle::TREADLE_TARGET
