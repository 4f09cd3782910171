// Tiles of a row are reversed, by three ways to bring them into shared memory.
#include <cooperative_groups.h>
#include <cuda_pipeline.h>

#include <cuda/barrier>

#include "../lab.h"

constexpr int kThreads = 64;
using Barrier = cuda::barrier<cuda::thread_scope_block>;

// By a register: each thread waits for its own load before it stores.
__global__ void reverse_registers(const float* x, float* y, int tiles) {
  __shared__ float tile[kThreads];
  for (int t = blockIdx.x; t < tiles; t += gridDim.x) {
    tile[threadIdx.x] = x[t * kThreads + threadIdx.x];
    __syncthreads();
    y[t * kThreads + threadIdx.x] = tile[kThreads - 1 - threadIdx.x];
    __syncthreads();
  }
}

// In the background: a thread waits for its own copies, and a barrier for everybody's waiting. Both are
// needed.
__global__ void reverse_pipeline(const float* x, float* y, int tiles) {
  __shared__ float tile[2][kThreads];
  auto begin_copy = [&](int t, int stage) {
    if (t < tiles)
      __pipeline_memcpy_async(&tile[stage][threadIdx.x], &x[t * kThreads + threadIdx.x], sizeof(float));
    __pipeline_commit();
  };
  begin_copy(blockIdx.x, 0);
  for (int t = blockIdx.x, stage = 0; t < tiles; t += gridDim.x, stage ^= 1) {
    begin_copy(t + gridDim.x, stage ^ 1);  // the next tile
    __pipeline_wait_prior(1);              // all but the newest have arrived
    __syncthreads();
    y[t * kThreads + threadIdx.x] = tile[stage][kThreads - 1 - threadIdx.x];
    __syncthreads();
  }
}

// A barrier in shared memory that counts arrivals of threads and of copies.
__global__ void reverse_barrier(const float* x, float* y, int tiles) {
  __shared__ float tile[kThreads];
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ Barrier arrived;
  const auto block = cooperative_groups::this_thread_block();
  if (threadIdx.x == 0) init(&arrived, kThreads);
  __syncthreads();
  for (int t = blockIdx.x; t < tiles; t += gridDim.x) {
    cuda::memcpy_async(block, tile, x + t * kThreads, sizeof tile, arrived);
    arrived.arrive_and_wait();
    y[t * kThreads + threadIdx.x] = tile[kThreads - 1 - threadIdx.x];
    __syncthreads();
  }
}

int main() {
  const int tiles = 12, n = tiles * kThreads;
  const std::vector<float> x = lab::numbers(n);
  std::vector<float> expected(n);
  for (int i = 0; i < n; ++i) expected[i] = x[i / kThreads * kThreads + kThreads - 1 - i % kThreads];
  const lab::Array<float> from(x);

  lab::Table table("12 tiles of 64 numbers");
  table.row("reverse_registers", expected, 0,
            [&](float* y) { reverse_registers<<<4, kThreads>>>(from, y, tiles); });
  table.row("reverse_pipeline", expected, 0,
            [&](float* y) { reverse_pipeline<<<4, kThreads>>>(from, y, tiles); });
  table.row("reverse_barrier", expected, 0,
            [&](float* y) { reverse_barrier<<<4, kThreads>>>(from, y, tiles); });
  return table.end();
}
