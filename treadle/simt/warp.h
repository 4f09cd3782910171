/// Warp collectives: shuffles, votes, matches and reductions over the lanes named by a mask.
#pragma once

#include <type_traits>

#include "treadle/simt/executor_calls.h"

namespace treadle::TREADLE_TARGET {

constexpr unsigned kFullWarp = 0xffffffffu;

// Each collective is a function over what the present lanes brought. Lanes meet by mask and function.
void combine_nothing(WarpExchange&);
void combine_shuffle_index(WarpExchange&);
void combine_shuffle_up(WarpExchange&);
void combine_shuffle_down(WarpExchange&);
void combine_shuffle_xor(WarpExchange&);
void combine_ballot(WarpExchange&);
void combine_match_any(WarpExchange&);
void combine_match_all(WarpExchange&);

/// Waits for the lanes of `mask` and makes their memory accesses before it visible after it.
inline void __syncwarp(unsigned mask = kFullWarp, Site site = Site::current()) {
  meet_warp(mask, combine_nothing, 0, 0, site);
}

/// A shuffle's lane, offset or lane mask and its width, packed into one operand.
inline unsigned shuffle_operand(unsigned parameter, int width) {
  return (parameter & 31u) | static_cast<unsigned>(width) << 8;
}

template <class T>
T shuffle(WarpCombine* combine, unsigned mask, T value, unsigned parameter, int width, Site site) {
  return from_bits<T>(meet_warp(mask, combine, to_bits(value), shuffle_operand(parameter, width), site));
}

template <class T>
T __shfl_sync(unsigned mask, T value, int source, int width = 32, Site site = Site::current()) {
  return shuffle(combine_shuffle_index, mask, value, static_cast<unsigned>(source), width, site);
}

template <class T>
T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32, Site site = Site::current()) {
  return shuffle(combine_shuffle_up, mask, value, delta, width, site);
}

template <class T>
T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32, Site site = Site::current()) {
  return shuffle(combine_shuffle_down, mask, value, delta, width, site);
}

template <class T>
T __shfl_xor_sync(unsigned mask, T value, int lane_mask, int width = 32, Site site = Site::current()) {
  return shuffle(combine_shuffle_xor, mask, value, static_cast<unsigned>(lane_mask), width, site);
}

inline unsigned __ballot_sync(unsigned mask, int predicate, Site site = Site::current()) {
  return static_cast<unsigned>(meet_warp(mask, combine_ballot, predicate != 0, 0, site));
}

inline int __any_sync(unsigned mask, int predicate, Site site = Site::current()) {
  return __ballot_sync(mask, predicate, site) != 0;
}

/// True where the predicate holds in all lanes of the mask that have not returned.
inline int __all_sync(unsigned mask, int predicate, Site site = Site::current()) {
  return __ballot_sync(mask, predicate == 0, site) == 0;
}

template <class T>
unsigned __match_any_sync(unsigned mask, T value, Site site = Site::current()) {
  return static_cast<unsigned>(meet_warp(mask, combine_match_any, to_bits(value), 0, site));
}

template <class T>
unsigned __match_all_sync(unsigned mask, T value, int* all_equal, Site site = Site::current()) {
  const unsigned equal = static_cast<unsigned>(meet_warp(mask, combine_match_all, to_bits(value), 0, site));
  *all_equal = equal != 0;
  return equal;
}

/// The lanes of the warp that are at this place together. A GPU runs lanes together as far as it can, the
/// executor one by one: so a lane waits here until nothing else in its block can go on, and those of its warp
/// that then wait at the same place are active; lanes at an earlier line go on before.
inline unsigned __activemask(Site site = Site::current()) { return gather_lanes(site); }

struct Plus {
  template <class T>
  T operator()(T a, T b) const {
    return a + b;
  }
};
struct Minimum {
  template <class T>
  T operator()(T a, T b) const {
    return b < a ? b : a;
  }
};
struct Maximum {
  template <class T>
  T operator()(T a, T b) const {
    return a < b ? b : a;
  }
};
struct BitAnd {
  template <class T>
  T operator()(T a, T b) const {
    return a & b;
  }
};
struct BitOr {
  template <class T>
  T operator()(T a, T b) const {
    return a | b;
  }
};
struct BitXor {
  template <class T>
  T operator()(T a, T b) const {
    return a ^ b;
  }
};

/// Folds the present lanes' values in lane order.
template <class T, class Operation>
void combine_reduce(WarpExchange& lanes) {
  unsigned rest = lanes.present;
  T total = from_bits<T>(lanes.value[std::countr_zero(rest)]);
  for (rest &= rest - 1; rest != 0; rest &= rest - 1)
    total = Operation()(total, from_bits<T>(lanes.value[std::countr_zero(rest)]));
  for (rest = lanes.present; rest != 0; rest &= rest - 1)
    lanes.result[std::countr_zero(rest)] = to_bits(total);
}

template <class Operation, class T>
T reduce_warp(unsigned mask, T value, Site site) {
  static_assert(std::is_same_v<T, int> || std::is_same_v<T, unsigned>, "CUDA reduces int and unsigned");
  return from_bits<T>(meet_warp(mask, combine_reduce<T, Operation>, to_bits(value), 0, site));
}

template <class T>
T __reduce_add_sync(unsigned mask, T value, Site site = Site::current()) {
  return static_cast<T>(
      reduce_warp<Plus>(mask, static_cast<unsigned>(value), site));  // wraps for int as well
}
template <class T>
T __reduce_min_sync(unsigned mask, T value, Site site = Site::current()) {
  return reduce_warp<Minimum>(mask, value, site);
}
template <class T>
T __reduce_max_sync(unsigned mask, T value, Site site = Site::current()) {
  return reduce_warp<Maximum>(mask, value, site);
}
inline unsigned __reduce_and_sync(unsigned mask, unsigned value, Site site = Site::current()) {
  return reduce_warp<BitAnd>(mask, value, site);
}
inline unsigned __reduce_or_sync(unsigned mask, unsigned value, Site site = Site::current()) {
  return reduce_warp<BitOr>(mask, value, site);
}
inline unsigned __reduce_xor_sync(unsigned mask, unsigned value, Site site = Site::current()) {
  return reduce_warp<BitXor>(mask, value, site);
}

}  // namespace treadle::TREADLE_TARGET
