#include <atomic>

#include "treadle/simt/toolkit/events.h"
#include "treadle/simt/toolkit/handles.h"
#include "treadle/simt/toolkit/stream_api.h"
#include "treadle/simt/toolkit/stream_state.h"

namespace treadle::TREADLE_TARGET {
namespace toolkit {
namespace {

/// Never destroyed: static objects of the program may use streams late.
Handles<cudaStream_t, StreamState>& streams() {
  static auto* streams = new Handles<cudaStream_t, StreamState>;
  return *streams;
}

StreamState legacy_stream, per_thread_stream;
std::atomic<unsigned long long> next_id = 1;
std::atomic<int> captures = 0;

cudaError_t no_stream(const Call& call) {
  return refuse(call, cudaErrorInvalidResourceHandle, "there is no such stream");
}

/// Calls work(stream) unless there is no such stream.
template <class F>
cudaError_t with_stream(const Call& call, cudaStream_t handle, F work) {
  StreamState* stream = find_stream(handle);
  return stream == nullptr ? no_stream(call) : work(*stream);
}

cudaError_t create_stream(const Call& call, cudaStream_t* result, unsigned flags, int priority) {
  if (result == nullptr || flags > cudaStreamNonBlocking)
    return refuse(call, cudaErrorInvalidValue, "no place for the stream, or unknown flags");
  auto stream = std::make_shared<StreamState>();
  stream->flags = flags;
  stream->priority = std::min(kLeastPriority, std::max(kGreatestPriority, priority));
  stream->id = next_id++;
  *result = streams().add(std::move(stream));
  return cudaSuccess;
}

cudaError_t break_capture(const Call& call, StreamState& stream) {
  stream.capture->broken = true;
  return refuse(call, cudaErrorStreamCaptureUnsupported, "the stream is being captured");
}

/// The capture ends for all streams that it has drawn in.
void leave_capture(const std::shared_ptr<Capture>& capture) {
  const auto leave = [&](StreamState& stream) {
    if (stream.capture != capture) return;
    stream.capture = nullptr;
    stream.captures_itself = false;
  };
  streams().for_each(leave);
  leave(per_thread_stream);
  --captures;
}

}  // namespace

StreamState* find_stream(cudaStream_t handle) {
  if (handle == nullptr || handle == cudaStreamLegacy) return &legacy_stream;
  if (handle == cudaStreamPerThread) return &per_thread_stream;
  return streams().find(handle).get();
}

bool any_capture() {
  if (captures == 0) return false;
  bool strict = false;
  const auto look = [&](StreamState& stream) {
    strict |= stream.captures_itself && stream.capture->mode != cudaStreamCaptureModeRelaxed;
  };
  streams().for_each(look);
  look(per_thread_stream);
  return strict;
}

cudaError_t refuse_in_capture(const Call& call) {
  const auto mark = [](StreamState& stream) {
    if (stream.capture != nullptr) stream.capture->broken = true;
  };
  streams().for_each(mark);
  mark(per_thread_stream);
  return refuse(call, cudaErrorStreamCaptureUnsupported, "not while a stream is being captured");
}

}  // namespace toolkit

using namespace toolkit;

inline namespace cuda_names {

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  TREADLE_CUDA_CALL(call);
  return perform([&] { return create_stream(call, stream, cudaStreamDefault, kLeastPriority); });
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  TREADLE_CUDA_CALL(call);
  return perform([&] { return create_stream(call, stream, flags, kLeastPriority); });
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority) {
  TREADLE_CUDA_CALL(call);
  return perform([&] { return create_stream(call, stream, flags, priority); });
}

cudaError_t cudaStreamDestroy(cudaStream_t handle) {
  TREADLE_CUDA_CALL(call);
  return perform([&] { return streams().remove(handle) ? cudaSuccess : no_stream(call); });
}

cudaError_t cudaStreamSynchronize(cudaStream_t handle) {
  TREADLE_CUDA_CALL(call);
  return perform([&] {
    return with_stream(call, handle, [&](StreamState& stream) {
      return stream.capture != nullptr ? break_capture(call, stream) : cudaSuccess;
    });
  });
}

cudaError_t cudaStreamQuery(cudaStream_t handle) {
  TREADLE_CUDA_CALL(call);
  return perform([&] {
    return with_stream(call, handle, [&](StreamState& stream) {
      return stream.capture != nullptr ? break_capture(call, stream) : cudaSuccess;
    });
  });
}

cudaError_t cudaStreamWaitEvent(cudaStream_t handle, cudaEvent_t event_handle, unsigned) {
  TREADLE_CUDA_CALL(call);
  return perform([&] {
    return with_stream(call, handle, [&](StreamState& stream) {
      const auto event = find_event(event_handle);
      if (event == nullptr) return refuse(call, cudaErrorInvalidResourceHandle, "there is no such event");
      if (event->capture == nullptr) return cudaSuccess;
      if (stream.capture != nullptr && stream.capture != event->capture)
        return refuse(call, cudaErrorStreamCaptureMerge, "two captures would become one");
      stream.capture = event->capture;
      return cudaSuccess;
    });
  });
}

cudaError_t cudaStreamGetFlags(cudaStream_t handle, unsigned* flags) {
  TREADLE_CUDA_CALL(call);
  return perform([&] {
    return with_stream(call, handle, [&](StreamState& stream) { return *flags = stream.flags, cudaSuccess; });
  });
}

cudaError_t cudaStreamGetPriority(cudaStream_t handle, int* priority) {
  TREADLE_CUDA_CALL(call);
  return perform([&] {
    return with_stream(call, handle,
                       [&](StreamState& stream) { return *priority = stream.priority, cudaSuccess; });
  });
}

cudaError_t cudaStreamGetId(cudaStream_t handle, unsigned long long* id) {
  TREADLE_CUDA_CALL(call);
  return perform([&] {
    return with_stream(call, handle, [&](StreamState& stream) { return *id = stream.id, cudaSuccess; });
  });
}

cudaError_t cudaStreamGetDevice(cudaStream_t handle, int* device) {
  TREADLE_CUDA_CALL(call);
  return perform(
      [&] { return with_stream(call, handle, [&](StreamState&) { return *device = 0, cudaSuccess; }); });
}

cudaError_t cudaStreamAddCallback(cudaStream_t handle, cudaStreamCallback_t callback, void* data,
                                  unsigned flags) {
  TREADLE_CUDA_CALL(call);
  return perform([&] {
    if (callback == nullptr || flags != 0)
      return refuse(call, cudaErrorInvalidValue, "no function, or unknown flags");
    return with_stream(call, handle, [&](StreamState& stream) {
      if (stream.capture != nullptr) return break_capture(call, stream);
      callback(handle, cudaSuccess, data);
      return cudaSuccess;
    });
  });
}

cudaError_t cudaLaunchHostFunc(cudaStream_t handle, cudaHostFn_t function, void* data) {
  TREADLE_CUDA_CALL(call);
  return perform([&] {
    if (function == nullptr) return refuse(call, cudaErrorInvalidValue, "no function");
    return submit(call, handle, [=] { return function(data), cudaSuccess; });
  });
}

cudaError_t cudaStreamBeginCapture(cudaStream_t handle, cudaStreamCaptureMode mode) {
  TREADLE_CUDA_CALL(call);
  return perform([&] {
    return with_stream(call, handle, [&](StreamState& stream) {
      if (&stream == &legacy_stream)
        return refuse(call, cudaErrorStreamCaptureUnsupported, "the default stream cannot be captured");
      if (stream.capture != nullptr)
        return refuse(call, cudaErrorIllegalState, "the stream is being captured already");
      stream.capture = std::make_shared<Capture>();
      stream.capture->mode = mode;
      stream.captures_itself = true;
      ++captures;
      return cudaSuccess;
    });
  });
}

cudaError_t cudaStreamEndCapture(cudaStream_t handle, cudaGraph_t* graph) {
  TREADLE_CUDA_CALL(call);
  return perform([&] {
    return with_stream(call, handle, [&](StreamState& stream) {
      if (graph == nullptr) return refuse(call, cudaErrorInvalidValue, "no place for the graph");
      *graph = nullptr;
      if (stream.capture == nullptr)
        return refuse(call, cudaErrorIllegalState, "the stream is not being captured");
      if (!stream.captures_itself)
        return refuse(call, cudaErrorStreamCaptureUnmatched, "the capture began in another stream");
      const auto capture = stream.capture;
      leave_capture(capture);
      if (capture->broken) return cudaErrorStreamCaptureInvalidated;
      *graph = add_graph(capture->graph);
      return cudaSuccess;
    });
  });
}

cudaError_t cudaStreamIsCapturing(cudaStream_t handle, cudaStreamCaptureStatus* status) {
  TREADLE_CUDA_CALL(call);
  return perform([&] {
    return with_stream(call, handle, [&](StreamState& stream) {
      if (status == nullptr) return refuse(call, cudaErrorInvalidValue, "no place for the result");
      *status = stream.capture == nullptr ? cudaStreamCaptureStatusNone
                : stream.capture->broken  ? cudaStreamCaptureStatusInvalidated
                                          : cudaStreamCaptureStatusActive;
      return cudaSuccess;
    });
  });
}

cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  static thread_local cudaStreamCaptureMode current = cudaStreamCaptureModeGlobal;
  return perform([&] { return std::swap(*mode, current), cudaSuccess; });
}

}  // namespace cuda_names
}  // namespace treadle::TREADLE_TARGET
