/// SplitMix64: random numbers by a counter.
#pragma once  // public

#include <cstdint>

namespace treadle {

/// Counter-based random numbers: value k = 1, 2, … of a key is mix(key + k · 0x9e3779b97f4a7c15), with the
/// finaliser of SplitMix64 (Steele, Lea, Flood: "Fast Splittable Pseudorandom Number Generators", 2014).
class SplitMix64 {
 public:
  explicit constexpr SplitMix64(uint64_t key) : state_(key) {}

  constexpr uint64_t next() { return mix(state_ += kStep); }
  /// An integer in [0, bound): the upper half of next() · bound. Its bias is below bound / 2^64.
  constexpr uint64_t below(uint64_t bound) {
    return uint64_t((__extension__(unsigned __int128)(next()) * bound) >> 64);
  }

  static constexpr uint64_t mix(uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

 private:
  static constexpr uint64_t kStep = 0x9e3779b97f4a7c15;
  uint64_t state_;
};

}  // namespace treadle
