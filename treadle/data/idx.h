/// Reading IDX files, the format of MNIST and its kin: plain, or compressed with gzip.
/// Layout (big-endian): 0x00 0x00, type code, rank, one uint32 per axis, then the values row-major.
#pragma once  // public

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

#include "treadle/core/export.h"
#include "treadle/core/shape.h"

namespace treadle {

/// An array of unsigned bytes (type code 0x08), row-major.
struct IdxArray {
  Shape shape;
  std::vector<uint8_t> values;
};

/// Largest array that is read, in bytes.
inline constexpr uint64_t kMaxIdxBytes = uint64_t(4) << 30;

/// Reads a file; gzip is recognised by its first bytes. What the header says is compared with the length of
/// the file before the values are allocated, and no more than that is ever unpacked. Throws FileError, and
/// FormatError for a wrong magic or type, sizes that do not fit the file, a damaged or cut gzip stream, and
/// bytes left over.
TREADLE_API IdxArray load_idx(const std::filesystem::path& path);

/// The same from memory; `name` stands for the path in messages. Throws FormatError.
TREADLE_API IdxArray parse_idx(std::span<const std::byte> bytes, std::string_view name = "IDX data");

}  // namespace treadle
