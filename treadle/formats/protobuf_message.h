/// Writing protocol buffers by their wire format (https://protobuf.dev/programming-guides/encoding). Internal
/// to formats/.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace treadle {

/// The bytes of one message: fields in the order of the calls, each by its number.
class ProtobufMessage {
 public:
  const std::string& bytes() const { return bytes_; }

  void integer(int field, int64_t value) { key(field, 0), varint(uint64_t(value)); }
  void number(int field, double value) { key(field, 1), fixed(std::bit_cast<uint64_t>(value)); }
  void real(int field, float value) { key(field, 5), fixed(std::bit_cast<uint32_t>(value)); }
  void text(int field, std::string_view value) { key(field, 2), varint(value.size()), bytes_ += value; }
  void message(int field, const ProtobufMessage& value) { text(field, value.bytes_); }
  /// A packed list.
  void numbers(int field, std::span<const double> values) {
    key(field, 2), varint(8 * values.size());
    for (double value : values) fixed(std::bit_cast<uint64_t>(value));
  }

 private:
  void key(int field, int wire_type) { varint(uint64_t(field) << 3 | uint64_t(wire_type)); }
  void varint(uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += char(value | 0x80);
    bytes_ += char(value);
  }
  /// From the lowest byte.
  template <class Word>
  void fixed(Word value) {
    for (size_t byte = 0; byte < sizeof(Word); ++byte) bytes_ += char(value >> (8 * byte));
  }

  std::string bytes_;
};

}  // namespace treadle
