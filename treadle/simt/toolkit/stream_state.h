/// Streams as the host interface keeps them: work runs when it is submitted, or goes into the graph that is
/// captured from the stream.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "treadle/simt/target.h"
#include "treadle/simt/toolkit/runtime_state.h"

namespace treadle::TREADLE_TARGET::toolkit {

inline constexpr int kLeastPriority = 0, kGreatestPriority = -5;

using Work = std::function<cudaError_t()>;

/// The nodes of a graph in the order in which they run.
struct Graph {
  std::vector<Work> nodes;
};

/// One capture, of a stream and of those that its events have drawn in.
struct Capture {
  std::shared_ptr<Graph> graph = std::make_shared<Graph>();
  cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
  bool broken = false;  ///< by a call that is not allowed meanwhile
};

struct StreamState {
  unsigned flags = 0;
  int priority = kLeastPriority;
  unsigned long long id = 0;
  std::shared_ptr<Capture> capture;
  bool captures_itself = false;  ///< began the capture, and ends it
};

/// Null where there is no such stream.
StreamState* find_stream(cudaStream_t handle);

/// Whether any stream is captured now, in a way that forbids what waits for the device.
bool any_capture();
/// Breaks the captures and returns cudaErrorStreamCaptureUnsupported.
cudaError_t refuse_in_capture(const Call& call);

/// Runs the work, or records it. `stream` that does not exist is an error.
template <class F>
cudaError_t submit(const Call& call, cudaStream_t handle, F work) {
  StreamState* stream = find_stream(handle);
  if (stream == nullptr) return refuse(call, cudaErrorInvalidResourceHandle, "there is no such stream");
  if (stream->capture == nullptr) return work();
  stream->capture->graph->nodes.push_back(std::move(work));
  return cudaSuccess;
}

}  // namespace treadle::TREADLE_TARGET::toolkit
