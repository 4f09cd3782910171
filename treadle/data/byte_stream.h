/// Bytes read front to back from memory, plain or unpacked from gzip. Internal to data/.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

namespace treadle {

class ByteStream {
 public:
  virtual ~ByteStream() = default;
  /// Fills `target`. Throws FormatError when the stream ends first or is damaged.
  virtual void read(std::span<uint8_t> target) = 0;
  /// Throws FormatError unless the stream ends here.
  virtual void expect_end() = 0;
  /// An upper bound on how many bytes the whole stream can yield.
  virtual uint64_t most_bytes() const = 0;
};

/// A stream over `bytes`, which must outlive it; gzip is recognised by its first two bytes, and may have
/// several members. `file` begins messages.
std::unique_ptr<ByteStream> open_byte_stream(std::span<const std::byte> bytes, std::string_view file);

}  // namespace treadle
