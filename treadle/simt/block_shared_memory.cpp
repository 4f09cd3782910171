#include "treadle/simt/block_shared_memory.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "treadle/core/error.h"

namespace treadle::TREADLE_TARGET {
namespace {

constexpr size_t kAlignment = 128, kGuardBytes = 128;
constexpr unsigned char kGuard = 0xA5;

}  // namespace

std::atomic<void* (*)()> own_dynamic_shared = nullptr;

void BlockSharedMemory::FreeMemory::operator()(unsigned char* memory) const { std::free(memory); }

void* BlockSharedMemory::prepare(size_t bytes) {
  unsigned char* const before = memory_;
  size_t room = kLargestShared;
  if (void* (*const area)() = own_dynamic_shared; area != nullptr) {
    memory_ = static_cast<unsigned char*>(area());
  } else {
    if (bytes + kGuardBytes > capacity_) {
      capacity_ = (bytes + kGuardBytes + kAlignment - 1) / kAlignment * kAlignment;
      own_.reset(static_cast<unsigned char*>(std::aligned_alloc(kAlignment, capacity_)));
      require<DeviceError>(own_ != nullptr, "simt: no memory for {} bytes of shared memory", capacity_);
    }
    memory_ = own_.get();
    room = capacity_;
  }
  if (memory_ == before && bytes == bytes_) return memory_;
  bytes_ = bytes;
  guard_ = std::min(room - bytes, kGuardBytes);
  write_guard();
  return memory_;
}

void BlockSharedMemory::fill() { std::memset(memory_, 0xFF, bytes_); }

void BlockSharedMemory::write_guard() { std::memset(memory_ + bytes_, kGuard, guard_); }

ptrdiff_t BlockSharedMemory::check_guard() {
  const unsigned char *begin = memory_ + bytes_, *end = begin + guard_;
  const unsigned char* written = std::find_if(begin, end, [](unsigned char byte) { return byte != kGuard; });
  if (written == end) return -1;
  write_guard();
  return written - begin;
}

}  // namespace treadle::TREADLE_TARGET
