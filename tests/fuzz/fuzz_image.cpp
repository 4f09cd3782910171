/// Fuzz target: PNG and JPEG images up to 65,536 pixels, then grey and 28 x 28. Any treadle::Error is a right
/// answer; crashes, hangs and sanitizer reports are not.
#include <cstddef>
#include <cstdint>
#include <span>

#include "treadle/core/error.h"
#include "treadle/formats/image.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::span bytes(reinterpret_cast<const std::byte*>(data), size);
  try {
    constexpr int64_t kMaxPixels = 1 << 16;
    treadle::Image image = treadle::parse_image(bytes, "input", kMaxPixels);
    treadle::resize_bilinear(treadle::to_grey(image), 28, 28);
  } catch (const treadle::Error&) {
  }
  return 0;
}
