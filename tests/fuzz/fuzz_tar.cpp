/// Fuzz target: tar archives, plain and gzip. Any treadle::Error is a right answer; crashes, hangs and
/// sanitizer reports are not.
#include <cstddef>
#include <cstdint>
#include <span>

#include "treadle/core/error.h"
#include "treadle/data/tar.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::span bytes(reinterpret_cast<const std::byte*>(data), size);
  try {
    treadle::read_tar(bytes, "input", {"a"}, [](const std::string&, std::span<const std::byte>) {});
  } catch (const treadle::Error&) {
  }
  return 0;
}
