/// Reductions over the lanes of a warp and the threads of a block, for any state and any commutative merge.
#pragma once

#include "treadle/kernels/reduction_functions.h"
#include "treadle/simt/device.h"

namespace treadle::TREADLE_TARGET {

inline constexpr int kWarp = 32;

template <class T>
__device__ T exchange_lanes(T value, int lanes) {
  return __shfl_xor_sync(0xffffffffu, value, lanes);
}

template <class V>
__device__ Extremum<V> exchange_lanes(Extremum<V> state, int lanes) {
  return {exchange_lanes(state.value, lanes), exchange_lanes(state.position, lanes)};
}

/// Merges the states of all 32 lanes by a butterfly; every lane gets the result, the same bits in each.
template <class State, class Merge>
__device__ State warp_reduce(State state, Merge merge) {
  for (int lanes = kWarp / 2; lanes > 0; lanes /= 2) state = merge(state, exchange_lanes(state, lanes));
  return state;
}

/// Merges the states of all threads of a one-dimensional block whose size is a multiple of 32; every thread
/// gets the result. `none` is the state of nothing. All threads must call it; it may be called repeatedly.
template <class State, class Merge>
__device__ State block_reduce(State state, Merge merge, State none) {
  __shared__ State of_warp[kWarp];
  const int warp = threadIdx.x / kWarp, lane = threadIdx.x % kWarp, warps = blockDim.x / kWarp;
  state = warp_reduce(state, merge);
  __syncthreads();  // the previous call may still be reading
  if (lane == 0) of_warp[warp] = state;
  __syncthreads();
  return warp_reduce(lane < warps ? of_warp[lane] : none, merge);
}

}  // namespace treadle::TREADLE_TARGET
