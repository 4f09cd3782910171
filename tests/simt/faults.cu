// Kernels that are wrong on purpose.
#include "tests/simt/kernels.h"

namespace treadle::TREADLE_TARGET {
namespace {

__global__ void divergent_barrier_kernel() {
  if (threadIdx.x < 16)
    __syncthreads();
  else
    __syncthreads();
}

__global__ void half_a_warp_shuffles_kernel() {
  if (threadIdx.x < 16) __shfl_sync(0xffffffffu, 1, 0);
  __syncthreads();
}

__global__ void mask_without_caller_kernel() { __syncwarp(0xfffffffeu); }

__global__ void barrier_against_shuffle_kernel() {
  if (threadIdx.x == 3) __syncwarp();
  __syncthreads();
}

/// The others wait, at a barrier or in a warp collective, and are never called again.
__global__ void trap_between_barriers_kernel() {
  __shared__ int slots[64];
  slots[threadIdx.x] = 1;
  __syncthreads();
  if (threadIdx.x == 40) __trap();
  __shfl_sync(0xffffffffu, slots[threadIdx.x], 0);
  __syncthreads();
}

__global__ void trap_in_independent_kernel() {
  if (threadIdx.x == 3) __trap();
}

/// Block 0 switches threads all the time, until it is told that block 1 has failed.
__global__ void trap_beside_barriers_kernel(int rounds_before) {
  for (int round = 0; round < 1 << 16; ++round) {
    __syncthreads();
    if (blockIdx.x == 1 && round == rounds_before) __trap();
  }
}

}  // namespace

void divergent_barrier(stream_t stream) { launch<divergent_barrier_kernel>(stream, 1, 32, 0); }

void half_a_warp_shuffles(stream_t stream) { launch<half_a_warp_shuffles_kernel>(stream, 1, 32, 0); }

void mask_without_caller(stream_t stream) {
  launch<mask_without_caller_kernel>(stream, dim3(1, 2), dim3(8, 4), 0);
}

void barrier_against_shuffle(stream_t stream) { launch<barrier_against_shuffle_kernel>(stream, 1, 64, 0); }

void trap_between_barriers(stream_t stream) { launch<trap_between_barriers_kernel>(stream, 2, 64, 0); }

void trap_beside_barriers(stream_t stream, int rounds_before) {
  launch<trap_beside_barriers_kernel>(stream, 2, 1024, 0, rounds_before);
}

void trap_in_independent(stream_t stream) {
  launch<trap_in_independent_kernel, independent>(stream, 2, 64, 0);
}

}  // namespace treadle::TREADLE_TARGET
