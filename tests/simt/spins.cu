// Threads that wait without a call that the executor could see.
#include "tests/simt/kernels.h"

namespace treadle::TREADLE_TARGET {
namespace {

/// The first warp waits for a flag in shared memory that the second one sets.
__global__ void wait_for_volatile_flag_kernel(int* out) {
  __shared__ volatile int flag;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  if (threadIdx.x == 0) {
    while (flag == 0) {
    }
    *out = flag;
  }
  if (threadIdx.x == 32) flag = 7;
}

/// All blocks meet, by a counter that is read as volatile.
__global__ void meet_by_volatile_kernel(volatile unsigned* arrived, unsigned* seen) {
  if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd(const_cast<unsigned*>(arrived), 1u);
    while (*arrived < gridDim.x) {
    }
    __threadfence();
  }
  __syncthreads();
  if (threadIdx.x == 1) seen[blockIdx.x] = *arrived;
}

__global__ void wait_for_volatile_in_plain_loop_kernel(volatile int* flags) {
  if (threadIdx.x == 0 && blockIdx.x + 1 < gridDim.x)
    while (flags[blockIdx.x + 1] == 0) {
    }
  if (threadIdx.x == 0) flags[blockIdx.x] = 1;
}

/// Computes for long, and calls nothing.
__global__ void compute_kernel(double* x, int steps) {
  double sum = x[threadIdx.x];
  for (int i = 0; i < steps; ++i) sum = sum * 0.999999 + 1e-3;
  x[threadIdx.x] = sum;
}

__global__ void never_end_kernel(volatile int* x) {
  if (threadIdx.x == 3)
    for (int i = 0;; ++i) *x = i;
  __syncthreads();
}

__global__ void hand_over_for_ever_kernel(int* turn) {
  for (;;)
    if (atomicCAS(turn, static_cast<int>(threadIdx.x), static_cast<int>(1 - threadIdx.x)) == 5) return;
}

__global__ void spin_for_ever_kernel(volatile int* flag) {
  while (*flag == 0) {
  }
}

}  // namespace

void wait_for_volatile_flag(stream_t stream, int* out) {
  launch<wait_for_volatile_flag_kernel>(stream, 1, 64, 0, out);
}

void meet_by_volatile(stream_t stream, unsigned* arrived, unsigned* seen, int blocks) {
  launch<meet_by_volatile_kernel>(stream, blocks, 32, 0, arrived, seen);
}

void wait_for_volatile_in_plain_loop(stream_t stream, int* flags, int blocks) {
  launch<wait_for_volatile_in_plain_loop_kernel, independent>(stream, blocks, 32, 0, flags);
}

void compute(stream_t stream, double* x, int steps) { launch<compute_kernel>(stream, 1, 4, 0, x, steps); }

void never_end(bool plain) {
  int x = 0;
  if (plain)
    launch<spin_for_ever_kernel, independent>(nullptr, 2, 4, 0, &x);
  else
    launch<never_end_kernel>(nullptr, 2, 8, 0, &x);
}

void hand_over_for_ever(stream_t stream) {
  int turn = 0;
  launch<hand_over_for_ever_kernel>(stream, 1, 2, 0, &turn);
}

void spin_for_ever(stream_t stream) {
  int flag = 0;
  launch<spin_for_ever_kernel>(stream, 3, 4, 0, &flag);
}

}  // namespace treadle::TREADLE_TARGET
