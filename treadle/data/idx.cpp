#include "treadle/data/idx.h"

#include <algorithm>

#include "treadle/core/error.h"
#include "treadle/data/byte_stream.h"
#include "treadle/data/large_vector.h"
#include "treadle/data/read_bytes.h"

namespace treadle {
namespace {

constexpr uint8_t kUnsignedByte = 0x08;

/// Checks the magic number and returns the rank.
int read_rank(ByteStream& stream, std::string_view file) {
  uint8_t magic[4];
  stream.read(magic);
  require<FormatError>(magic[0] == 0 && magic[1] == 0,
                       "{}: begins with bytes {:#04x} {:#04x}, an IDX file with two zeros", file, magic[0],
                       magic[1]);
  require<FormatError>(magic[2] == kUnsignedByte,
                       "{}: the element type is {:#04x}, only unsigned bytes (0x08) are read", file,
                       magic[2]);
  require<FormatError>(magic[3] >= 1 && magic[3] <= kMaxRank, "{}: the array has {} axes, 1 to {} are read",
                       file, magic[3], kMaxRank);
  return magic[3];
}

Shape read_shape(ByteStream& stream, std::string_view file) {
  Shape shape;
  for (int rank = read_rank(stream, file); shape.rank() < rank;) {
    uint8_t b[4];
    stream.read(b);
    shape.push_back(int64_t(b[0]) << 24 | int64_t(b[1]) << 16 | int64_t(b[2]) << 8 | b[3]);
  }
  return shape;
}

/// Number of values, which must be possible in a stream of at most `most_bytes`.
size_t checked_count(const Shape& shape, uint64_t most_bytes, std::string_view file) {
  uint64_t bound = 1;
  for (int64_t extent : shape)
    require<FormatError>(!__builtin_mul_overflow(bound, uint64_t(std::max<int64_t>(extent, 1)), &bound) &&
                             bound <= kMaxIdxBytes,
                         "{}: an array of shape {} is larger than the limit of {} bytes", file, shape,
                         kMaxIdxBytes);
  uint64_t count = uint64_t(shape.numel());
  require<FormatError>(count <= most_bytes,
                       "{}: shape {} needs {} bytes, the file can hold no more than {}; it is cut short",
                       file, shape, count, most_bytes);
  return size_t(count);
}

}  // namespace

IdxArray parse_idx(std::span<const std::byte> bytes, std::string_view name) {
  auto stream = open_byte_stream(bytes, name);
  IdxArray array{read_shape(*stream, name), {}};
  array.values = large_vector<uint8_t>(checked_count(array.shape, stream->most_bytes(), name));
  stream->read(array.values);
  stream->expect_end();
  return array;
}

IdxArray load_idx(const std::filesystem::path& path) { return parse_idx(read_bytes(path), path.string()); }

}  // namespace treadle
