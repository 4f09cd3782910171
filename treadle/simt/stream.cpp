#include "treadle/simt/stream.h"

#include "treadle/core/error.h"
#include "treadle/simt/graph.h"

namespace treadle::simt {
namespace {

void refuse_if_captured(const Stream& stream, const char* what) {
  if (graph_captured_from(stream)) refuse_while_capturing(what);
}

}  // namespace

Stream& Stream::default_stream() {
  static Stream stream;
  return stream;
}

void Stream::submit(const std::function<void()>& work) {
  refuse_if_captured(*this, "calls a function of the host");
  note_work();
  work();
}

void Stream::synchronize() const { refuse_if_captured(*this, "waits for the device"); }

bool Stream::query() const {
  refuse_if_captured(*this, "asks whether the device is done");
  return true;
}

void Stream::wait(const Event& event) {
  refuse_if_captured(*this, "waits for an event");
  event.synchronize();
  note_work();
}

void Event::record(Stream* stream) {
  refuse_if_captured(Stream::of(stream), "records an event");
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
