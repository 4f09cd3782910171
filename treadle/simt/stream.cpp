#include "treadle/simt/stream.h"

#include "treadle/core/error.h"

namespace treadle::simt {

Stream& Stream::default_stream() {
  static Stream stream;
  return stream;
}

void Stream::submit(const std::function<void()>& work) {
  note_work();
  work();
}

void Stream::wait(const Event& event) {
  event.synchronize();
  note_work();
}

void Event::record(Stream* stream) {
  work_count_ = Stream::of(stream).work_count();
  time_ = std::chrono::steady_clock::now();
  recorded_ = true;
}

void Event::synchronize() const {
  require<DeviceError>(recorded_, "simt: waiting for an event that was never recorded");
}

float Event::elapsed(const Event& start, const Event& end) {
  start.synchronize();
  end.synchronize();
  return std::chrono::duration<float, std::milli>(end.time_ - start.time_).count();
}

}  // namespace treadle::simt
