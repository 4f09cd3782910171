/// The order in which a schedule starts the blocks of a grid and the threads of a block.
#pragma once

#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "treadle/simt/executor.h"

namespace treadle::TREADLE_TARGET {

/// A small generator: SplitMix64.
class ScheduleRandom {
 public:
  explicit ScheduleRandom(uint64_t seed) : state_(seed) {}

  uint64_t operator()() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
  }

  /// Uniform in 0 … bound−1 but for a bias below bound / 2^64.
  uint64_t below(uint64_t bound) { return (*this)() % bound; }

  template <class T>
  void shuffle(std::vector<T>& items) {
    for (size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[below(i)]);
  }

 private:
  uint64_t state_;
};

/// A permutation of 0 … count−1: the k-th block to start. Random order is an affine map, which needs no
/// memory.
class BlockOrder {
 public:
  BlockOrder(Schedule schedule, uint64_t count) : count_(count) {
    if (schedule.order == ScheduleOrder::reverse) {
      factor_ = offset_ = count - 1;
    } else if (schedule.order == ScheduleOrder::random) {
      ScheduleRandom random(schedule.seed);
      offset_ = random.below(count);
      do factor_ = 1 + random.below(count);
      while (std::gcd(factor_, count) != 1);
    }
  }

  uint64_t operator[](uint64_t k) const {
    __extension__ using Wide = unsigned __int128;
    return static_cast<uint64_t>((Wide{k} * factor_ + offset_) % count_);
  }

 private:
  uint64_t count_, factor_ = 1, offset_ = 0;
};

}  // namespace treadle::TREADLE_TARGET
