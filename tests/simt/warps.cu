#include "tests/simt/kernels.h"
#include "treadle/simt/cooperative_groups.h"

namespace treadle::TREADLE_TARGET {
namespace {

__global__ void shuffle_all_kernel(const int* x, int* index, int* up, int* down, int* exchange, int width) {
  const int i = threadIdx.x;
  index[i] = __shfl_sync(0xffffffffu, x[i], 3, width);
  up[i] = __shfl_up_sync(0xffffffffu, x[i], 2, width);
  down[i] = __shfl_down_sync(0xffffffffu, x[i], 2, width);
  exchange[i] = __shfl_xor_sync(0xffffffffu, x[i], 1, width);
}

template <class T>
__global__ void shuffle_down_one_kernel(const T* x, T* y) {
  y[threadIdx.x] = __shfl_down_sync(0xffffffffu, x[threadIdx.x], 1);
}

/// Only the lanes of `mask` take part: each gets the value of the mask's lowest lane.
__global__ void shuffle_partial_kernel(const int* x, int* y, unsigned mask) {
  const int i = threadIdx.x;
  if ((mask >> i & 1u) != 0) y[i] = __shfl_sync(mask, x[i], __ffs(static_cast<int>(mask)) - 1);
}

/// Both halves of the warp shuffle among themselves, in different branches, then all together.
__global__ void shuffle_divergent_kernel(const int* x, int* y) {
  const int i = threadIdx.x;
  int v = x[i];
  if (i < 16)
    v += __shfl_xor_sync(0x0000ffffu, v, 8);
  else
    v -= __shfl_xor_sync(0xffff0000u, v, 4);
  __syncwarp();
  y[i] = v + __shfl_sync(0xffffffffu, v, 31 - i);
}

__global__ void votes_kernel(const int* x, unsigned* ballot, int* any, int* all, unsigned mask) {
  const int i = threadIdx.x;
  if ((mask >> i & 1u) == 0) return;
  ballot[i] = __ballot_sync(mask, x[i]);
  any[i] = __any_sync(mask, x[i]);
  all[i] = __all_sync(mask, x[i]);
}

__global__ void matches_kernel(const int* x, unsigned* any, unsigned* all, int* all_equal) {
  const int i = threadIdx.x;
  any[i] = __match_any_sync(0xffffffffu, x[i]);
  all[i] = __match_all_sync(0xffffffffu, x[i], &all_equal[i]);
}

__global__ void reductions_kernel(const unsigned* x, unsigned* results) {
#if TREADLE_ARCH_AT_LEAST(800)
  const int i = threadIdx.x;
  const unsigned mask = i < 8 ? 0xffu : 0xffffff00u;
  const unsigned results_of_lane[6] = {__reduce_add_sync(mask, x[i]), __reduce_min_sync(mask, x[i]),
                                       __reduce_max_sync(mask, x[i]), __reduce_and_sync(mask, x[i]),
                                       __reduce_or_sync(mask, x[i]),  __reduce_xor_sync(mask, x[i])};
  for (int k = 0; k < 6; ++k) results[k * 32 + i] = results_of_lane[k];
#endif
}

/// Lanes below `leaving` return; the rest count themselves with a mask that still names everybody.
__global__ void collective_after_exit_kernel(int* y, int leaving) {
  const int i = threadIdx.x;
  if (i < leaving) return;
  y[i] = __popc(__ballot_sync(0xffffffffu, 1));
}

__global__ void tile_sums_kernel(const int* x, int* sums, unsigned* ballots) {
  const cooperative_groups::thread_block block = cooperative_groups::this_thread_block();
  const auto tile = cooperative_groups::tiled_partition<8>(block);
  const int i = block.thread_rank();
  int sum = x[i];
  for (unsigned distance = tile.size() / 2; distance > 0; distance /= 2) sum += tile.shfl_down(sum, distance);
  sum = tile.shfl(sum, 0);
  const int other_way = cooperative_groups::reduce(tile, x[i], cooperative_groups::plus<int>());
  sums[i] = sum == other_way ? sum : -1;
  ballots[i] = tile.ballot(tile.thread_rank() % 2 == 1);
  block.sync();
}

}  // namespace

void shuffle_all(stream_t stream, const int* x, int* index, int* up, int* down, int* exchange, int width) {
  launch<shuffle_all_kernel>(stream, 1, 32, 0, x, index, up, down, exchange, width);
}

template <class T>
void shuffle_down_one(stream_t stream, const T* x, T* y) {
  launch<shuffle_down_one_kernel<T>>(stream, 1, 32, 0, x, y);
}
template void shuffle_down_one(stream_t, const float*, float*);
template void shuffle_down_one(stream_t, const double*, double*);
template void shuffle_down_one(stream_t, const long long*, long long*);
template void shuffle_down_one(stream_t, const __half*, __half*);
template void shuffle_down_one(stream_t, const __nv_bfloat16*, __nv_bfloat16*);

void shuffle_partial(stream_t stream, const int* x, int* y, unsigned mask) {
  launch<shuffle_partial_kernel>(stream, 1, 32, 0, x, y, mask);
}

void shuffle_divergent(stream_t stream, const int* x, int* y) {
  launch<shuffle_divergent_kernel>(stream, 1, 32, 0, x, y);
}

void votes(stream_t stream, const int* x, unsigned* ballot, int* any, int* all, unsigned mask) {
  launch<votes_kernel>(stream, 1, 32, 0, x, ballot, any, all, mask);
}

void matches(stream_t stream, const int* x, unsigned* any, unsigned* all, int* all_equal) {
  launch<matches_kernel>(stream, 1, 32, 0, x, any, all, all_equal);
}

void reductions(stream_t stream, const unsigned* x, unsigned* results) {
  launch<reductions_kernel>(stream, 1, 32, 0, x, results);
}

void collective_after_exit(stream_t stream, int* y, int leaving) {
  launch<collective_after_exit_kernel>(stream, 1, 32, 0, y, leaving);
}

void tile_sums(stream_t stream, const int* x, int* sums, unsigned* ballots) {
  launch<tile_sums_kernel>(stream, 1, 64, 0, x, sums, ballots);
}

}  // namespace treadle::TREADLE_TARGET
