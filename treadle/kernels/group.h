/// Groups: who works together on one item, such as a row. A kernel written for a group is naive, warp-wide or
/// block-wide.
///
/// A group has a `size`, each member a `rank`; `item` numbers the groups of a grid with one-dimensional
/// blocks whose size is a multiple of 32. `reduce` merges one state of each member and gives all members the
/// result.
#pragma once

#include "treadle/kernels/reduce.h"

namespace treadle::TREADLE_TARGET {

struct ThreadGroup {
  static constexpr int kPerBlock = 128, kThreads = 128;
  static constexpr bool kAlone = true;
  __device__ int rank() const { return 0; }
  __device__ int size() const { return 1; }
  __device__ int64_t item() const { return int64_t(blockIdx.x) * blockDim.x + threadIdx.x; }
  template <class State, class Merge>
  __device__ State reduce(State state, Merge, State) const {
    return state;
  }
};

struct WarpGroup {
  static constexpr int kPerBlock = 4, kThreads = kPerBlock * kWarp;
  static constexpr bool kAlone = false;
  __device__ int rank() const { return threadIdx.x % kWarp; }
  __device__ int size() const { return kWarp; }
  __device__ int64_t item() const { return (int64_t(blockIdx.x) * blockDim.x + threadIdx.x) / kWarp; }
  template <class State, class Merge>
  __device__ State reduce(State state, Merge merge, State) const {
    return warp_reduce(state, merge);
  }
};

struct BlockGroup {
  static constexpr int kPerBlock = 1, kThreads = 256;
  static constexpr bool kAlone = false;
  __device__ int rank() const { return threadIdx.x; }
  __device__ int size() const { return blockDim.x; }
  __device__ int64_t item() const { return blockIdx.x; }
  template <class State, class Merge>
  __device__ State reduce(State state, Merge merge, State none) const {
    return block_reduce(state, merge, none);
  }
};

}  // namespace treadle::TREADLE_TARGET
