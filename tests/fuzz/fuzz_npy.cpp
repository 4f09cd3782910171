/// Fuzz target: .npy files, whose elements are read afterwards. Any treadle::Error is a right answer;
/// crashes, hangs and sanitizer reports are not.
#include <cstddef>
#include <cstdint>
#include <span>

#include "treadle/core/error.h"
#include "treadle/formats/npy.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::span bytes(reinterpret_cast<const std::byte*>(data), size);
  try {
    treadle::parse_npy(bytes).to_doubles();
  } catch (const treadle::Error&) {
  }
  return 0;
}
