// The simt device's Runtime: host memory behind guard zones, work done at once or recorded in a graph.
#include <cstring>

#include "treadle/core/error.h"
#include "treadle/core/runtime.h"
#include "treadle/simt/executor.h"
#include "treadle/simt/graph.h"
#include "treadle/simt/memory.h"
#include "treadle/simt/stream.h"

namespace treadle::simt {
namespace {

class SimtRuntime final : public Runtime {
 public:
  void* allocate(size_t bytes) override {
    refuse_while_capturing("allocates device memory");
    return simt_allocate(bytes);
  }
  /// A kernel wrote beside its block: this must not throw, so it is logged; tests ask check_guards().
  void free(void* memory) noexcept override {
    if (!postpone_free(memory)) simt_free_or_log(memory);
  }
  void copy_from_host(void* target, const void* source, size_t bytes) override {
    refuse_while_capturing("copies from the host");
    std::memcpy(target, source, bytes);
    note_written(target, bytes);
  }
  void copy_to_host(void* target, const void* source, size_t bytes) override {
    refuse_while_capturing("copies to the host");
    std::memcpy(target, source, bytes);
  }
  void copy_within(void* target, const void* source, size_t bytes) override {
    if (RecordedGraph* graph = graph_captured_from(Stream::default_stream()))
      return graph->add({.kind = GraphNodeKind::copy, .target = target, .source = source, .bytes = bytes},
                        [this](const GraphNode& n) { copy_within(n.target, n.source, n.bytes); });
    std::memmove(target, source, bytes);
    note_written(target, bytes);
  }
  void fill_bytes(void* target, int value, size_t bytes) override {
    if (RecordedGraph* graph = graph_captured_from(Stream::default_stream()))
      return graph->add({.kind = GraphNodeKind::fill, .target = target, .bytes = bytes, .value = value},
                        [this](const GraphNode& n) { fill_bytes(n.target, n.value, n.bytes); });
    std::memset(target, value, bytes);
    note_written(target, bytes);
  }
  void synchronize() override { Stream::default_stream().synchronize(); }
  void* stream() override { return &Stream::default_stream(); }
  std::unique_ptr<CapturedGraph> capture(const std::function<void()>& work) override {
    return capture_graph(work);
  }
  /// Each block is the arena's own, so that a freed one is poisoned and its guards are checked.
  bool caches() const override { return false; }
  std::string description() const override {
    return fmt::format("CUDA kernels on the CPU, {} worker{}", workers(), workers() == 1 ? "" : "s");
  }
};

Runtime& get(int) {
  static auto& simt = *new SimtRuntime;
  return simt;
}

}  // namespace

/// Makes the device known; it is always there.
void register_device() {
  treadle::register_device(DeviceKind::simt, {[] { return 1; }, [] { return std::string(); }, get});
}

}  // namespace treadle::simt
