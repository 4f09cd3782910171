/// Reading the binary version of CIFAR-10: records of one label byte and 3 × 32 × 32 pixel bytes (R, G, B).
#pragma once  // public

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

#include "treadle/core/export.h"

namespace treadle {

inline constexpr size_t kCifarPixels = 3 * 32 * 32;
inline constexpr size_t kCifarRecord = 1 + kCifarPixels;

/// The records taken apart: pixels are [N, 3, 32, 32].
struct CifarRecords {
  std::vector<uint8_t> labels;
  std::vector<uint8_t> pixels;
};

/// Throws FileError, and FormatError when the length is zero or no multiple of 3073 or a label is above 9.
TREADLE_API CifarRecords load_cifar10(const std::filesystem::path& path);

/// The same from memory; `name` stands for the path in messages. Throws FormatError.
TREADLE_API CifarRecords parse_cifar10(std::span<const std::byte> bytes,
                                       std::string_view name = "CIFAR-10 data");

}  // namespace treadle
