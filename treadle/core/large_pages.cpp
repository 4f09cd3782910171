#include "treadle/core/large_pages.h"

#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>

namespace treadle {
namespace {

constexpr size_t kLargePage = size_t(2) << 20;

}  // namespace

void prefer_large_pages([[maybe_unused]] void* memory, [[maybe_unused]] size_t bytes) {
#ifdef MADV_HUGEPAGE
  const uintptr_t begin = uintptr_t(memory), end = begin + bytes;
  const uintptr_t first = (begin + kLargePage - 1) / kLargePage * kLargePage;
  const uintptr_t last = end / kLargePage * kLargePage;
  if (first < last) ::madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);
#endif
}

void* allocate_aligned(size_t bytes) {
  const bool large = bytes >= kLargePage;
  void* memory = nullptr;
  if (::posix_memalign(&memory, large ? kLargePage : 64, bytes) != 0) return nullptr;
  if (large) prefer_large_pages(memory, bytes);
  return memory;
}

}  // namespace treadle
