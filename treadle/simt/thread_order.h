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

/// A permutation of 0 … count−1: the k-th block to start. A GPU starts blocks roughly in order, and those
/// that are there at once in any: so the permutation is one of each kWindow numbers. Random order is an
/// affine map, which needs no memory.
class BlockOrder {
 public:
  static constexpr uint64_t kWindow = 1024;

  BlockOrder(Schedule schedule, uint64_t count)
      : whole_(schedule, kWindow), last_(schedule, count % kWindow), last_begin_(count - count % kWindow) {}

  uint64_t operator[](uint64_t k) const {
    const uint64_t within = k % kWindow;
    return k - within + (k < last_begin_ ? whole_ : last_)(within);
  }

 private:
  struct Map {
    Map(Schedule schedule, uint64_t count) : count(count) {
      if (count == 0 || schedule.order == ScheduleOrder::forward) return;
      if (schedule.order == ScheduleOrder::reverse) {
        factor = offset = count - 1;
        return;
      }
      ScheduleRandom random(schedule.seed);
      offset = random.below(count);
      do factor = 1 + random.below(count);
      while (std::gcd(factor, count) != 1);
    }
    uint64_t operator()(uint64_t k) const { return (k * factor + offset) % count; }

    uint64_t count, factor = 1, offset = 0;
  };

  Map whole_, last_;
  uint64_t last_begin_;
};

}  // namespace treadle::TREADLE_TARGET
