/// Events and graphs behind their handles.
#pragma once

#include <chrono>
#include <memory>

#include "treadle/simt/target.h"
#include "treadle/simt/toolkit/stream_state.h"

namespace treadle::TREADLE_TARGET::toolkit {

struct EventState {
  unsigned flags = 0;
  bool recorded = false;
  std::chrono::steady_clock::time_point time{};
  std::shared_ptr<Capture> capture;  ///< recorded in a stream that was being captured
};

/// Null where there is no such event.
std::shared_ptr<EventState> find_event(cudaEvent_t handle);

cudaGraph_t add_graph(const std::shared_ptr<Graph>& graph);

}  // namespace treadle::TREADLE_TARGET::toolkit
