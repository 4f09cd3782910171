/// SHA-256, as FIPS 180-4 defines it. Internal to data/.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace treadle {

class Sha256 {
 public:
  void add(std::span<const std::byte> bytes);
  /// 64 digits; nothing may be added afterwards.
  std::string digest();

 private:
  void add_block(const uint8_t* block);

  std::array<uint32_t, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                    0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<uint8_t, 64> rest_{};  ///< what does not fill a block yet
  uint64_t count_ = 0;              ///< bytes added
};

/// Of all the bytes.
std::string sha256_of(std::span<const std::byte> bytes);

}  // namespace treadle
