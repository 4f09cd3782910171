/// Cooperative groups as kernels use them: the block, tiles of a warp, the grid; and grid_sync().
#pragma once

#include "treadle/simt/device.h"

#if defined(__CUDACC__)
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

namespace treadle::cuda {

namespace cooperative_groups = ::cooperative_groups;

/// Waits for all threads of the grid, which launch_cooperative has started.
__device__ __forceinline__ void grid_sync() { ::cooperative_groups::this_grid().sync(); }

}  // namespace treadle::cuda
#else

namespace treadle::TREADLE_TARGET {

/// Waits for all threads of the grid, which launch_cooperative has started.
inline void grid_sync(Site site = Site::current()) { meet_block(BlockBarrier::grid, 0, site); }

namespace cooperative_groups {

/// All threads of the block.
struct thread_block {
  static void sync(Site site = Site::current()) { __syncthreads(site); }
  static unsigned thread_rank() { return linear_thread_index(); }
  static unsigned size() { return blockDim.x * blockDim.y * blockDim.z; }
  static unsigned num_threads() { return size(); }
  static dim3 group_index() { return blockIdx; }
  static dim3 thread_index() { return threadIdx; }
  static dim3 dim_threads() { return blockDim; }
  static dim3 group_dim() { return blockDim; }
};

inline thread_block this_thread_block() { return {}; }

/// All threads of a grid launched with launch_cooperative.
struct grid_group {
  static void sync(Site site = Site::current()) { grid_sync(site); }
  static bool is_valid() { return true; }
  static unsigned long long block_rank() {
    return (static_cast<unsigned long long>(blockIdx.z) * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  }
  static unsigned long long num_blocks() {
    return static_cast<unsigned long long>(gridDim.x) * gridDim.y * gridDim.z;
  }
  static unsigned long long thread_rank() {
    return block_rank() * thread_block::size() + linear_thread_index();
  }
  static unsigned long long size() { return num_blocks() * thread_block::size(); }
  static unsigned long long num_threads() { return size(); }
  static dim3 group_dim() { return gridDim; }
};

inline grid_group this_grid() { return {}; }

/// N consecutive threads of a warp; N is a power of two up to 32.
template <unsigned N, class Parent = void>
struct thread_block_tile {
  static_assert(N >= 1 && N <= 32 && (N & (N - 1)) == 0);

  static unsigned thread_rank() { return lane_index() % N; }
  static constexpr unsigned size() { return N; }
  static constexpr unsigned num_threads() { return N; }
  static unsigned meta_group_rank() { return linear_thread_index() / N; }
  static unsigned meta_group_size() { return (thread_block::size() + N - 1) / N; }
  /// The tile's lanes within the warp.
  static unsigned mask() { return (kFullWarp >> (32 - N)) << (lane_index() / N * N); }

  static void sync(Site site = Site::current()) { __syncwarp(mask(), site); }

  template <class T>
  T shfl(T value, int source, Site site = Site::current()) const {
    return __shfl_sync(mask(), value, source, N, site);
  }
  template <class T>
  T shfl_up(T value, unsigned delta, Site site = Site::current()) const {
    return __shfl_up_sync(mask(), value, delta, N, site);
  }
  template <class T>
  T shfl_down(T value, unsigned delta, Site site = Site::current()) const {
    return __shfl_down_sync(mask(), value, delta, N, site);
  }
  template <class T>
  T shfl_xor(T value, unsigned lane_mask, Site site = Site::current()) const {
    return __shfl_xor_sync(mask(), value, static_cast<int>(lane_mask), N, site);
  }
  int any(int predicate, Site site = Site::current()) const { return __any_sync(mask(), predicate, site); }
  int all(int predicate, Site site = Site::current()) const { return __all_sync(mask(), predicate, site); }
  /// Bit i is the predicate of the tile's thread i.
  unsigned ballot(int predicate, Site site = Site::current()) const {
    return __ballot_sync(mask(), predicate, site) >> (lane_index() / N * N);
  }
  template <class T>
  unsigned match_any(T value, Site site = Site::current()) const {
    return __match_any_sync(mask(), value, site) >> (lane_index() / N * N);
  }
};

template <unsigned N, class Group>
thread_block_tile<N, Group> tiled_partition(const Group&) {
  return {};
}

template <class T>
struct plus {
  T operator()(T a, T b) const { return a + b; }
};
template <class T>
struct less {
  T operator()(T a, T b) const { return b < a ? b : a; }
};
template <class T>
struct greater {
  T operator()(T a, T b) const { return a < b ? b : a; }
};
template <class T>
struct bit_and {
  T operator()(T a, T b) const { return a & b; }
};
template <class T>
struct bit_or {
  T operator()(T a, T b) const { return a | b; }
};
template <class T>
struct bit_xor {
  T operator()(T a, T b) const { return a ^ b; }
};

/// Folds the values of the tile's threads; every thread gets the result. The order of the sum is that of a
/// butterfly, as on a GPU.
template <unsigned N, class Parent, class T, class Operation>
T reduce(const thread_block_tile<N, Parent>& tile, T value, Operation operation,
         Site site = Site::current()) {
  for (unsigned distance = N / 2; distance > 0; distance /= 2)
    value = operation(value, tile.shfl_xor(value, distance, site));
  return value;
}

template <class Group>
void sync(const Group& group, Site site = Site::current()) {
  group.sync(site);
}

}  // namespace cooperative_groups
}  // namespace treadle::TREADLE_TARGET
#endif
