/// prefetch(): asks the processor for memory that is read soon.
#pragma once

#include <cstdint>

namespace treadle {

inline constexpr int64_t kCacheLine = 64;

inline void prefetch(const void* memory, int64_t bytes) {
  for (int64_t i = 0; i < bytes; i += kCacheLine) __builtin_prefetch(static_cast<const char*>(memory) + i);
}

}  // namespace treadle
