#include "treadle/simt/toolkit/events.h"

#include "treadle/simt/toolkit/handles.h"
#include "treadle/simt/toolkit/stream_api.h"

namespace treadle::TREADLE_TARGET {
namespace toolkit {
namespace {

Handles<cudaEvent_t, EventState>& events() {
  static auto* events = new Handles<cudaEvent_t, EventState>;
  return *events;
}

cudaError_t no_event(const Call& call) {
  return refuse(call, cudaErrorInvalidResourceHandle, "there is no such event");
}

cudaError_t create_event(const Call& call, cudaEvent_t* result, unsigned flags) {
  if (result == nullptr || flags > 7)
    return refuse(call, cudaErrorInvalidValue, "no place for the event, or unknown flags");
  auto event = std::make_shared<EventState>();
  event->flags = flags;
  *result = events().add(std::move(event));
  return cudaSuccess;
}

cudaError_t record_event(const Call& call, cudaEvent_t handle, cudaStream_t stream_handle) {
  const auto event = find_event(handle);
  if (event == nullptr) return no_event(call);
  StreamState* stream = find_stream(stream_handle);
  if (stream == nullptr) return refuse(call, cudaErrorInvalidResourceHandle, "there is no such stream");
  event->capture = stream->capture;
  event->time = std::chrono::steady_clock::now();
  event->recorded = true;
  return cudaSuccess;
}

cudaError_t wait_for_event(const Call& call, cudaEvent_t handle) {
  const auto event = find_event(handle);
  if (event == nullptr) return no_event(call);
  if (event->capture == nullptr) return cudaSuccess;
  event->capture->broken = true;
  return refuse(call, cudaErrorCapturedEvent, "the event was recorded in a stream that is being captured");
}

}  // namespace

std::shared_ptr<EventState> find_event(cudaEvent_t handle) { return events().find(handle); }

}  // namespace toolkit

using namespace toolkit;

inline namespace cuda_names {

cudaError_t cudaEventCreate(cudaEvent_t* event, unsigned flags) {
  TREADLE_CUDA_CALL(call);
  return perform([&] { return create_event(call, event, flags); });
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  TREADLE_CUDA_CALL(call);
  return perform([&] { return create_event(call, event, flags); });
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  TREADLE_CUDA_CALL(call);
  return perform([&] { return events().remove(event) ? cudaSuccess : no_event(call); });
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  TREADLE_CUDA_CALL(call);
  return perform([&] { return record_event(call, event, stream); });
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned) {
  TREADLE_CUDA_CALL(call);
  return perform([&] { return record_event(call, event, stream); });
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  TREADLE_CUDA_CALL(call);
  return perform([&] { return wait_for_event(call, event); });
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  TREADLE_CUDA_CALL(call);
  return perform([&] { return wait_for_event(call, event); });
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start_handle, cudaEvent_t end_handle) {
  TREADLE_CUDA_CALL(call);
  return perform([&] {
    if (milliseconds == nullptr) return refuse(call, cudaErrorInvalidValue, "no place for the time");
    const auto start = find_event(start_handle), end = find_event(end_handle);
    if (start == nullptr || end == nullptr) return no_event(call);
    if (!start->recorded || !end->recorded)
      return refuse(call, cudaErrorInvalidResourceHandle, "an event was never recorded");
    if (((start->flags | end->flags) & cudaEventDisableTiming) != 0)
      return refuse(call, cudaErrorInvalidResourceHandle, "an event was created without times");
    *milliseconds = std::chrono::duration<float, std::milli>(end->time - start->time).count();
    return cudaSuccess;
  });
}

}  // namespace cuda_names
}  // namespace treadle::TREADLE_TARGET
