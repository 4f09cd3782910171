/// Philox4x32-10, a counter-based random number generator: Salmon, Moraes, Dror and Shaw, Parallel Random
/// Numbers: As Easy as 1, 2, 3, 2011.
#pragma once

#include <cstdint>

#include "treadle/simt/function_qualifiers.h"

namespace treadle {

/// Four 32-bit random numbers, or the counter they are made of.
struct PhiloxBlock {
  uint32_t lanes[4];
};

/// The ten rounds on a counter, with a key of two words.
TREADLE_DEVICE inline PhiloxBlock philox4x32(PhiloxBlock counter, uint32_t key0, uint32_t key1) {
  uint32_t a = counter.lanes[0], b = counter.lanes[1], c = counter.lanes[2], d = counter.lanes[3];
  for (int round = 0; round < 10; ++round) {
    const uint64_t left = uint64_t(0xD2511F53u) * a, right = uint64_t(0xCD9E8D57u) * c;
    a = uint32_t(right >> 32) ^ b ^ key0;
    b = uint32_t(right);
    c = uint32_t(left >> 32) ^ d ^ key1;
    d = uint32_t(left);
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
  return {{a, b, c, d}};
}

/// Block number `position` of a seed's sequence: the seed is the key, the position the counter's lower half.
TREADLE_DEVICE inline PhiloxBlock philox_block(uint64_t seed, uint64_t position) {
  return philox4x32({{uint32_t(position), uint32_t(position >> 32), 0, 0}}, uint32_t(seed),
                    uint32_t(seed >> 32));
}

}  // namespace treadle
