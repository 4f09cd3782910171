/// What one thread of a kernel did since its warp was last looked at: stretches of code that it entered, and
/// its accesses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace treadle::profiler {

enum class EventKind : uint8_t { block, load, store, atomic };

/// Addresses have 48 bits; above them stand kind and size.
struct Event {
  uint32_t place;  ///< in the program: which instruction
  uint64_t data;

  static uint64_t pack(EventKind kind, unsigned bytes, uint64_t address) {
    return (address & kAddress) | uint64_t{bytes} << 48 | static_cast<uint64_t>(kind) << 56;
  }
  static EventKind kind(uint64_t data) { return static_cast<EventKind>(data >> 56); }
  static unsigned bytes(uint64_t data) { return static_cast<unsigned>(data >> 48 & 0xff); }
  static uint64_t address(uint64_t data) { return data & kAddress; }

 private:
  static constexpr uint64_t kAddress = (uint64_t{1} << 48) - 1;
};

/// Grows as it must; its memory stays for the next block. A block event's address is the stack pointer.
class LaneTrace {
 public:
  LaneTrace() = default;
  ~LaneTrace() {
    std::free(places_);
    std::free(data_);
  }
  LaneTrace(const LaneTrace&) = delete;
  LaneTrace& operator=(const LaneTrace&) = delete;

  void begin_thread() {
    size_ = cursor_ = blocks_end_ = since_pause = polls = 0;
    stack_base = place = 0;
    depth = 0;
    ended = false;
  }

  void append(uint32_t place, uint64_t data) {
    if (size_ == capacity_) [[unlikely]]
      grow();
    places_[size_] = place;
    data_[size_] = data;
    ++size_;
  }
  void append_block(uint32_t place, uint64_t stack) {
    blocks_end_ = size_;
    append(place, Event::pack(EventKind::block, 0, stack));
  }

  /// The access that goes on where the last event ended becomes a part of it: one statement's stores that a
  /// GPU makes at once. False where it does not fit.
  bool extend_last(EventKind kind, unsigned bytes, uint64_t address) {
    if (size_ == cursor_) return false;
    uint64_t& last = data_[size_ - 1];
    const unsigned before = Event::bytes(last), together = before + bytes;
    if (Event::kind(last) != kind || Event::address(last) + before != address || together > 16) return false;
    // A half of 16 bytes that are aligned, or all of them: 8, 12, 16.
    if (Event::address(last) % (together > 8 ? 16 : together) != 0) return false;
    last = Event::pack(kind, together, Event::address(last));
    return true;
  }

  // What has not been replayed.
  size_t cursor() const { return cursor_; }
  size_t size() const { return size_; }
  /// Where the last stretch of code begins, which may go on.
  size_t blocks_end() const { return blocks_end_ < cursor_ ? cursor_ : blocks_end_; }
  const uint32_t* places() const { return places_; }
  const uint64_t* data() const { return data_; }
  void advance(size_t events) { cursor_ += events; }

  /// Moves what is left to the front.
  void compact();

  uint32_t since_pause = 0;  ///< events
  uint32_t polls = 0;
  uint64_t stack_base = 0;  ///< the first stack pointer that was seen; 0: none
  // Where the replay stands: the stretch of code, and how deep in calls.
  uint32_t place = 0;
  int64_t depth = 0;
  bool ended = false;  ///< the thread has returned

 private:
  void grow();

  uint32_t* places_ = nullptr;
  uint64_t* data_ = nullptr;
  size_t size_ = 0, capacity_ = 0, cursor_ = 0, blocks_end_ = 0;
};

}  // namespace treadle::profiler
