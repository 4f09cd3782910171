/// Fuzz target: CIFAR-10 records. Any treadle::Error is a right answer; crashes, hangs and sanitizer reports
/// are not.
#include <cstddef>
#include <cstdint>
#include <span>

#include "treadle/core/error.h"
#include "treadle/data/cifar.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::span bytes(reinterpret_cast<const std::byte*>(data), size);
  try {
    treadle::parse_cifar10(bytes);
  } catch (const treadle::Error&) {
  }
  return 0;
}
