/// The JSON header of a safetensors file: parsing, checking and composing it. Internal to formats/.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "treadle/core/dtype.h"
#include "treadle/core/shape.h"

namespace treadle {

/// Longest header that is read, as in the format's reference implementation.
inline constexpr uint64_t kMaxSafetensorsHeader = 100'000'000;

/// What the header says of one tensor; its bytes are [begin, end) of the data behind the header.
struct DeclaredTensor {
  std::string name;
  DType dtype = DType::f32;
  Shape shape;
  uint64_t begin = 0;
  uint64_t end = 0;
};

struct SafetensorsHeader {
  std::vector<DeclaredTensor> tensors;
  std::map<std::string, std::string> metadata;
};

/// Parses a header and checks that its tensors fill `data_bytes` bytes without gap or overlap.
/// `file` begins the messages. Throws FormatError.
SafetensorsHeader parse_safetensors_header(std::string_view json, uint64_t data_bytes, std::string_view file);

/// The header as JSON, padded with spaces to a multiple of eight bytes. Throws ValueError for text that is
/// not UTF-8.
std::string compose_safetensors_header(const SafetensorsHeader& header);

/// A name from a file made fit for a message: quoted, cut at 80 bytes, unprintable bytes as '?'.
std::string printable(std::string_view name);

}  // namespace treadle
