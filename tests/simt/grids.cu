#include "tests/simt/kernels.h"
#include "treadle/simt/cooperative_groups.h"

namespace treadle::TREADLE_TARGET {
namespace {

/// Each block keeps its part of x in shared memory while the grid exchanges y.
__global__ void reverse_through_grid_kernel(const float* x, float* y, float* z) {
  __shared__ float mine[64];
  const auto grid = cooperative_groups::this_grid();
  const int i = static_cast<int>(grid.thread_rank()), n = static_cast<int>(grid.size());
  mine[threadIdx.x] = x[i];
  y[i] = x[i] + 1.f;
  grid_sync();
  z[i] = y[n - 1 - i] + mine[blockDim.x - 1 - threadIdx.x];
  grid.sync();
  y[i] = z[n - 1 - i];
}

__global__ void grid_sync_kernel() { grid_sync(); }

__global__ void half_the_blocks_sync_kernel() {
  if (blockIdx.x % 2 == 0) grid_sync();
}

}  // namespace

void reverse_through_grid(stream_t stream, const float* x, float* y, float* z, int blocks, int threads) {
  launch_cooperative<reverse_through_grid_kernel>(stream, blocks, threads, 0, x, y, z);
}

void grid_sync_without_cooperation(stream_t stream) { launch<grid_sync_kernel>(stream, 1, 32, 0); }

void half_the_blocks_sync(stream_t stream) {
  launch_cooperative<half_the_blocks_sync_kernel>(stream, 6, 32, 0);
}

}  // namespace treadle::TREADLE_TARGET
