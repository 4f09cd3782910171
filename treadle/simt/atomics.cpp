#include "treadle/simt/atomics.h"

#include <mutex>

namespace treadle::TREADLE_TARGET {

#if defined(__x86_64__) || defined(__aarch64__)
__extension__ using Bits128 = unsigned __int128;

#if defined(__x86_64__)
[[gnu::target("cx16")]]
#endif
bool compare_exchange_128(void* address, void* expected, const void* desired) {
  Bits128 wanted, next;
  std::memcpy(&wanted, expected, sizeof wanted);
  std::memcpy(&next, desired, sizeof next);
  const Bits128 found = __sync_val_compare_and_swap(static_cast<Bits128*>(address), wanted, next);
  std::memcpy(expected, &found, sizeof found);
  return found == wanted;
}
#else
bool compare_exchange_128(void* address, void* expected, const void* desired) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  const bool same = std::memcmp(address, expected, 16) == 0;
  std::memcpy(same ? address : expected, same ? desired : address, 16);
  return same;
}
#endif

}  // namespace treadle::TREADLE_TARGET
