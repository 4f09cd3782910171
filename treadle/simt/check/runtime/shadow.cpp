#include "treadle/simt/check/runtime/shadow.h"

#include <sys/mman.h>

#include <cstdlib>

#include "treadle/core/error.h"

namespace treadle::checker {
namespace {

/// Words behind the end that an access may begin to look at.
constexpr size_t kSlack = 8;

size_t words_of(size_t bytes) { return bytes / kWordBytes + kSlack; }

}  // namespace

void* reserve_addresses(size_t bytes, const char* what, void* address) {
  const int fixed = address == nullptr ? 0 : MAP_FIXED_NOREPLACE;
  void* memory = mmap(address, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | fixed, -1, 0);
  if (memory != MAP_FAILED && (address == nullptr || memory == address)) return memory;
  fmt::print(stderr, "simt check: cannot reserve {} bytes of addresses for {}\n", bytes, what);
  std::exit(1);
}

void Shadow::reserve(size_t most) {
  state = static_cast<uint8_t*>(reserve_addresses(words_of(most), "the state of memory"));
  cells = static_cast<Cell*>(reserve_addresses(words_of(most) * sizeof(Cell), "what is known of memory"));
}

void Shadow::release(size_t most) {
  munmap(state, words_of(most));
  munmap(cells, words_of(most) * sizeof(Cell));
}

void Shadow::allow(size_t offset, size_t count) {
  for (size_t byte = offset; byte < offset + count; ++byte)
    state[byte / kWordBytes] |= static_cast<uint8_t>(0x10u << byte % kWordBytes);
}

}  // namespace treadle::checker
