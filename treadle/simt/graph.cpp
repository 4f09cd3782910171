#include "treadle/simt/graph.h"

#include <cstring>
#include <utility>

#include "treadle/core/error.h"
#include "treadle/simt/memory.h"
#include "treadle/simt/stream.h"

namespace treadle::simt {
namespace {

/// The capture that a thread is in the middle of.
struct Capture {
  std::unique_ptr<RecordedGraph> graph = std::make_unique<RecordedGraph>();
  std::vector<void*> freed;

  ~Capture();
};

thread_local Capture* this_threads_capture = nullptr;

Capture::~Capture() {
  this_threads_capture = nullptr;
  for (void* memory : freed) simt_free_or_log(memory);
}

bool is_inside(const void* address, const void* begin, size_t size) {
  return reinterpret_cast<uintptr_t>(address) - reinterpret_cast<uintptr_t>(begin) < size;
}

}  // namespace

std::vector<const void*> GraphNode::addresses_in(const void* begin, size_t size) const {
  std::vector<const void*> found;
  const auto add = [&](const void* address) {
    if (is_inside(address, begin, size)) found.push_back(address);
  };
  for (size_t i = 0; i + sizeof(void*) <= arguments.size(); i += sizeof(void*)) {
    const void* word = nullptr;
    std::memcpy(&word, &arguments[i], sizeof word);
    add(word);
  }
  if (kind != GraphNodeKind::kernel) add(target);
  if (kind == GraphNodeKind::copy) add(source);
  return found;
}

void RecordedGraph::add(GraphNode node, Run run) {
  nodes_.push_back(std::move(node));
  runs_.push_back(std::move(run));
}

void RecordedGraph::launch() {
  refuse_while_capturing("launches a graph");
  for (size_t i = 0; i < nodes_.size(); ++i) runs_[i](nodes_[i]);
}

std::unique_ptr<RecordedGraph> capture_graph(const std::function<void()>& work) {
  refuse_while_capturing("captures another graph");
  Capture capture;
  this_threads_capture = &capture;
  work();
  require<DeviceError>(capture.freed.empty(),
                       "simt: a graph is being captured, and the work frees device memory");
  return std::move(capture.graph);
}

RecordedGraph* graph_captured_from(const Stream& stream) {
  return this_threads_capture && &stream == &Stream::default_stream() ? this_threads_capture->graph.get()
                                                                      : nullptr;
}

void refuse_while_capturing(const char* what) {
  require<DeviceError>(!this_threads_capture, "simt: a graph is being captured, and the work {}", what);
}

bool postpone_free(void* memory) {
  if (this_threads_capture) this_threads_capture->freed.push_back(memory);
  return this_threads_capture != nullptr;
}

}  // namespace treadle::simt
