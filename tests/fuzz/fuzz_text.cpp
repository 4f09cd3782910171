/// Fuzz target: texts in UTF-8. What is read is written again with the same bytes; any treadle::Error is a
/// right answer; crashes, hangs and sanitizer reports are not.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "treadle/core/error.h"
#include "treadle/data/text.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const treadle::Vocabulary vocabulary = treadle::Vocabulary::of(text, "input");
    if (vocabulary.decode(vocabulary.encode(text, "input")) != text) std::abort();
    if (treadle::Vocabulary(vocabulary.characters()) != vocabulary) std::abort();
  } catch (const treadle::Error&) {
  }
  return 0;
}
