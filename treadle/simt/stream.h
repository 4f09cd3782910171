/// Streams and events of the simt device.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>

#include "treadle/core/export.h"

namespace treadle::simt {

class Event;

/// Work in order. Every piece of work runs at once, on the thread that submits it, and is complete when the
/// submitting call returns. So all streams of a thread run in the order of submission, which is one of the
/// orders CUDA allows, the one in which the legacy default stream waits for, and is waited for by, every
/// other stream.
///
/// While a graph is captured from the default stream, its kernels are recorded instead; submit, wait,
/// synchronize, query and recording an event on it throw DeviceError.
class TREADLE_API Stream {
 public:
  Stream() = default;
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  /// The stream that a null stream_t means.
  static Stream& default_stream();
  static Stream& of(Stream* stream) { return stream == nullptr ? default_stream() : *stream; }

  /// Runs `work` after all work submitted so far, before this returns.
  void submit(const std::function<void()>& work);
  /// Later work waits for `event`. Throws DeviceError when the event was never recorded: it would wait for
  /// nothing.
  void wait(const Event& event);
  /// Returns when all work is done: at once.
  void synchronize() const;
  /// Whether all work is done.
  bool query() const;

  /// Counts a kernel launch.
  void note_work() { __atomic_fetch_add(&work_count_, 1, __ATOMIC_RELAXED); }
  /// Pieces of work submitted so far.
  uint64_t work_count() const { return __atomic_load_n(&work_count_, __ATOMIC_RELAXED); }

 private:
  uint64_t work_count_ = 0;
};

/// A point in a stream's work.
class TREADLE_API Event {
 public:
  /// The event is after all work of `stream` so far, null meaning the default stream. Recording again moves
  /// it.
  void record(Stream* stream = nullptr);
  /// Whether the work before it is done: always, once recorded, and before, as in CUDA.
  bool query() const { return true; }
  /// Throws DeviceError when never recorded.
  void synchronize() const;
  bool recorded() const { return recorded_; }
  /// Pieces of work that its stream had been given when it was recorded.
  uint64_t work_count() const { return work_count_; }

  /// Milliseconds from `start` to `end`. Throws DeviceError unless both are recorded.
  static float elapsed(const Event& start, const Event& end);

 private:
  std::chrono::steady_clock::time_point time_;
  uint64_t work_count_ = 0;
  bool recorded_ = false;
};

}  // namespace treadle::simt
