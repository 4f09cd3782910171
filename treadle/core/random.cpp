#include "treadle/core/random.h"

#include "treadle/core/error.h"

namespace treadle {

uint64_t Generator::advance(int64_t count) {
  require<ValueError>(count >= 0, "a generator cannot set {} numbers aside", count);
  uint64_t first = offset_;
  offset_ += (uint64_t(count) + 3) / 4;
  return first;
}

Generator& default_generator() {
  static auto& generator = *new Generator;
  return generator;
}

}  // namespace treadle
