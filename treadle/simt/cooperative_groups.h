/// Cooperative groups: the block, the grid, tiles and other parts of a warp; reductions and scans over their
/// threads; and grid_sync().
#pragma once

#include "treadle/simt/device.h"

#if TREADLE_TARGET_IS_CUDA
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

/// A shuffle of values of any size, eight bytes at a time.
template <class T>
T shuffle_any(unsigned mask, const T& value, int lane, Site site) {
  static_assert(std::is_trivially_copyable_v<T>, "shuffles move bytes");
  uint64_t words[(sizeof(T) + 7) / 8] = {};
  std::memcpy(words, &value, sizeof(T));
  for (uint64_t& word : words) word = __shfl_sync(mask, word, lane, 32, site);
  T result;
  std::memcpy(static_cast<void*>(&result), words, sizeof(T));
  return result;
}

/// All threads of the block.
struct thread_block {
  /// Of a barrier that a thread has arrived at and not waited for.
  struct arrival_token {};

  static void sync(Site site = Site::current()) { __syncthreads(site); }
  static arrival_token barrier_arrive() { return {}; }
  static void barrier_wait(arrival_token&&, Site site = Site::current()) { __syncthreads(site); }
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
  struct arrival_token {};

  static void sync(Site site = Site::current()) { grid_sync(site); }
  static arrival_token barrier_arrive() { return {}; }
  static void barrier_wait(arrival_token&&, Site site = Site::current()) { grid_sync(site); }
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
  static dim3 block_index() { return blockIdx; }
  static dim3 dim_blocks() { return gridDim; }
  static dim3 group_dim() { return gridDim; }
};

inline grid_group this_grid() { return {}; }

template <unsigned N, class Parent>
struct thread_block_tile;

/// Where a tile lies among the tiles of its parent.
template <unsigned N, class Parent>
struct TilePlace {
  static unsigned rank() { return linear_thread_index() / N; }
  static unsigned count() { return (thread_block::size() + N - 1) / N; }
};
template <unsigned N, unsigned M, class Parent>
struct TilePlace<N, thread_block_tile<M, Parent> > {
  static unsigned rank() { return lane_index() % M / N; }
  static unsigned count() { return M / N; }
};

/// N consecutive threads of a warp; N is a power of two up to 32.
template <unsigned N, class Parent = void>
struct thread_block_tile {
  static_assert(N >= 1 && N <= 32 && (N & (N - 1)) == 0, "a tile has 1, 2, 4, 8, 16 or 32 threads");

  thread_block_tile() = default;
  /// A tile that does not say what it is a part of.
  template <class Other>
  thread_block_tile(const thread_block_tile<N, Other>&) {}

  static unsigned thread_rank() { return lane_index() % N; }
  static constexpr unsigned size() { return N; }
  static constexpr unsigned num_threads() { return N; }
  static unsigned meta_group_rank() { return TilePlace<N, Parent>::rank(); }
  static unsigned meta_group_size() { return TilePlace<N, Parent>::count(); }
  /// The tile's lanes within the warp.
  static unsigned mask() { return (kFullWarp >> (32 - N)) << first_lane(); }
  static unsigned first_lane() { return lane_index() / N * N; }

  static void sync(Site site = Site::current()) { __syncwarp(mask(), site); }

  template <class T>
  T shfl(T value, int source, Site site = Site::current()) const {
    return shuffle_any(mask(), value, static_cast<int>(first_lane() + static_cast<unsigned>(source) % N),
                       site);
  }
  template <class T>
  T shfl_up(T value, unsigned delta, Site site = Site::current()) const {
    return from_rank(value, delta <= thread_rank() ? thread_rank() - delta : thread_rank(), site);
  }
  template <class T>
  T shfl_down(T value, unsigned delta, Site site = Site::current()) const {
    return from_rank(value, thread_rank() + delta < N ? thread_rank() + delta : thread_rank(), site);
  }
  template <class T>
  T shfl_xor(T value, unsigned lane_mask, Site site = Site::current()) const {
    return from_rank(value, (thread_rank() ^ lane_mask) % N, site);
  }
  int any(int predicate, Site site = Site::current()) const { return __any_sync(mask(), predicate, site); }
  int all(int predicate, Site site = Site::current()) const { return __all_sync(mask(), predicate, site); }
  /// Bit i is the predicate of the tile's thread i.
  unsigned ballot(int predicate, Site site = Site::current()) const {
    return __ballot_sync(mask(), predicate, site) >> first_lane();
  }
  template <class T>
  unsigned match_any(T value, Site site = Site::current()) const {
    return __match_any_sync(mask(), value, site) >> first_lane();
  }
  template <class T>
  unsigned match_all(T value, int& all_equal, Site site = Site::current()) const {
    return __match_all_sync(mask(), value, &all_equal, site) >> first_lane();
  }

 private:
  template <class T>
  static T from_rank(T value, unsigned rank, Site site) {
    return shuffle_any(mask(), value, static_cast<int>(first_lane() + rank), site);
  }
};

/// Some lanes of a warp, ranked in their order.
class coalesced_group {
 public:
  explicit coalesced_group(unsigned mask = 1u << lane_index(), unsigned rank_among = 0, unsigned groups = 1)
      : mask_(mask), meta_rank_(rank_among), meta_size_(groups) {}
  template <unsigned N, class Parent>
  coalesced_group(const thread_block_tile<N, Parent>& tile)
      : coalesced_group(tile.mask(), tile.meta_group_rank(), tile.meta_group_size()) {}

  unsigned mask() const { return mask_; }
  unsigned size() const { return static_cast<unsigned>(std::popcount(mask_)); }
  unsigned num_threads() const { return size(); }
  unsigned thread_rank() const {
    return static_cast<unsigned>(std::popcount(mask_ & ((1u << lane_index()) - 1)));
  }
  unsigned meta_group_rank() const { return meta_rank_; }
  unsigned meta_group_size() const { return meta_size_; }

  void sync(Site site = Site::current()) const { __syncwarp(mask_, site); }

  template <class T>
  T shfl(T value, int source, Site site = Site::current()) const {
    return from_rank(value, static_cast<unsigned>(source) % size(), site);
  }
  template <class T>
  T shfl_up(T value, unsigned delta, Site site = Site::current()) const {
    const unsigned rank = thread_rank();
    return from_rank(value, delta <= rank ? rank - delta : rank, site);
  }
  template <class T>
  T shfl_down(T value, unsigned delta, Site site = Site::current()) const {
    const unsigned rank = thread_rank();
    return from_rank(value, rank + delta < size() ? rank + delta : rank, site);
  }
  int any(int predicate, Site site = Site::current()) const { return __any_sync(mask_, predicate, site); }
  int all(int predicate, Site site = Site::current()) const { return __all_sync(mask_, predicate, site); }
  /// Bit i is the predicate of the group's thread i.
  unsigned ballot(int predicate, Site site = Site::current()) const {
    return packed(__ballot_sync(mask_, predicate, site));
  }
  template <class T>
  unsigned match_any(T value, Site site = Site::current()) const {
    return packed(__match_any_sync(mask_, value, site));
  }
  template <class T>
  unsigned match_all(T value, int& all_equal, Site site = Site::current()) const {
    return packed(__match_all_sync(mask_, value, &all_equal, site));
  }

 private:
  unsigned lane_of(unsigned rank) const {
    unsigned lanes = mask_;
    for (; rank > 0; --rank) lanes &= lanes - 1;
    return static_cast<unsigned>(std::countr_zero(lanes));
  }
  /// The bits of the group's lanes side by side.
  unsigned packed(unsigned lanes) const {
    unsigned result = 0, rank = 0;
    for (unsigned rest = mask_; rest != 0; rest &= rest - 1, ++rank)
      result |= (lanes >> std::countr_zero(rest) & 1u) << rank;
    return result;
  }
  template <class T>
  T from_rank(const T& value, unsigned rank, Site site) const {
    return shuffle_any(mask_, value, static_cast<int>(lane_of(rank)), site);
  }

  unsigned mask_, meta_rank_, meta_size_;
};

/// The lanes of the warp that are here together: see __activemask().
inline coalesced_group coalesced_threads(Site site = Site::current()) {
  return coalesced_group(gather_lanes(site));
}

/// Any group that fits: the block, or lanes of a warp.
class thread_group {
 public:
  thread_group(const thread_block&) : lanes_(0u), is_block_(true) {}
  thread_group(const coalesced_group& lanes) : lanes_(lanes), is_block_(false) {}
  template <unsigned N, class Parent>
  thread_group(const thread_block_tile<N, Parent>& tile) : lanes_(tile), is_block_(false) {}

  bool is_block() const { return is_block_; }
  const coalesced_group& lanes() const { return lanes_; }
  unsigned size() const { return is_block_ ? thread_block::size() : lanes_.size(); }
  unsigned num_threads() const { return size(); }
  unsigned thread_rank() const { return is_block_ ? thread_block::thread_rank() : lanes_.thread_rank(); }
  void sync(Site site = Site::current()) const {
    if (is_block_)
      thread_block::sync(site);
    else
      lanes_.sync(site);
  }

 private:
  coalesced_group lanes_;
  bool is_block_;
};

template <unsigned N, class Group>
thread_block_tile<N, Group> tiled_partition(const Group&) {
  return {};
}

/// Parts of `size` consecutive threads of the group; of lanes the last may be smaller.
inline coalesced_group tiled_partition(const coalesced_group& group, unsigned size) {
  const unsigned part = group.thread_rank() / size;
  unsigned mask = 0, rank = 0;
  for (unsigned rest = group.mask(); rest != 0; rest &= rest - 1, ++rank)
    if (rank / size == part) mask |= rest & -rest;
  return coalesced_group(mask, part, (group.size() + size - 1) / size);
}
inline thread_group tiled_partition(const thread_group& group, unsigned size) {
  if (!group.is_block()) return tiled_partition(group.lanes(), size);
  const unsigned first = lane_index() / size * size;
  return coalesced_group((kFullWarp >> (32 - size)) << first, linear_thread_index() / size,
                         (thread_block::size() + size - 1) / size);
}
inline thread_group tiled_partition(const thread_block& group, unsigned size) {
  return tiled_partition(thread_group(group), size);
}

/// The threads of the group that brought the same label.
template <class Label>
coalesced_group labeled_partition(const coalesced_group& group, Label label, Site site = Site::current()) {
  const unsigned mask = __match_any_sync(group.mask(), label, site);
  // Parts are ranked by their first lanes.
  const unsigned firsts =
      __ballot_sync(group.mask(), std::countr_zero(mask) == static_cast<int>(lane_index()), site);
  const unsigned before = firsts & ((mask & -mask) - 1);
  return coalesced_group(mask, static_cast<unsigned>(std::popcount(before)),
                         static_cast<unsigned>(std::popcount(firsts)));
}
template <unsigned N, class Parent, class Label>
coalesced_group labeled_partition(const thread_block_tile<N, Parent>& tile, Label label,
                                  Site site = Site::current()) {
  return labeled_partition(coalesced_group(tile), label, site);
}
template <class Group>
coalesced_group binary_partition(const Group& group, bool predicate, Site site = Site::current()) {
  return labeled_partition(coalesced_group(group), static_cast<int>(predicate), site);
}

template <class T>
struct plus {
  T operator()(T a, T b) const { return a + b; }
};
/// The smaller value, and of greater the larger one.
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

/// Folds pairs, pairs of pairs and so on, in the order of ranks.
template <class T, class Operation>
T reduce(const coalesced_group& group, T value, Operation operation, Site site = Site::current()) {
  for (unsigned distance = 1; distance < group.size(); distance *= 2) {
    const T other = group.shfl_down(value, distance, site);
    if (group.thread_rank() + distance < group.size()) value = operation(value, other);
  }
  return group.shfl(value, 0, site);
}

/// The fold of the values of this thread and those of lower rank.
template <class Group, class T, class Operation>
T inclusive_scan(const Group& group, T value, Operation operation, Site site = Site::current()) {
  for (unsigned distance = 1; distance < group.size(); distance *= 2) {
    const T other = group.shfl_up(value, distance, site);
    if (group.thread_rank() >= distance) value = operation(other, value);
  }
  return value;
}
template <class Group, class T>
T inclusive_scan(const Group& group, T value, Site site = Site::current()) {
  return inclusive_scan(group, value, plus<T>(), site);
}

/// The fold of the values of lower rank alone; T{} for rank 0.
template <class Group, class T, class Operation>
T exclusive_scan(const Group& group, T value, Operation operation, Site site = Site::current()) {
  const T below = group.shfl_up(inclusive_scan(group, value, operation, site), 1, site);
  return group.thread_rank() == 0 ? T{} : below;
}
template <class Group, class T>
T exclusive_scan(const Group& group, T value, Site site = Site::current()) {
  return exclusive_scan(group, value, plus<T>(), site);
}

/// One thread of the group calls f.
template <class Group, class F, class... A>
void invoke_one(const Group& group, F f, A&&... arguments) {
  if (group.thread_rank() == 0) f(std::forward<A>(arguments)...);
}
/// As invoke_one; all threads of the group get the result.
template <class Group, class F, class... A>
auto invoke_one_broadcast(const Group& group, F f, A&&... arguments) {
  decltype(f(std::forward<A>(arguments)...)) result{};
  if (group.thread_rank() == 0) result = f(std::forward<A>(arguments)...);
  return group.shfl(result, 0);
}

template <class Group>
void sync(const Group& group, Site site = Site::current()) {
  group.sync(site);
}
template <class Group>
auto thread_rank(const Group& group) {
  return group.thread_rank();
}
template <class Group>
auto group_size(const Group& group) {
  return group.size();
}

}  // namespace cooperative_groups
}  // namespace treadle::TREADLE_TARGET
#endif
