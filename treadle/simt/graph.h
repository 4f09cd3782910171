/// Graphs of the simt device: they hold what a CUDA graph would, can be looked at, and refuse what a capture
/// on a GPU refuses.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "treadle/core/export.h"
#include "treadle/core/runtime.h"

namespace treadle::simt {

class Stream;

enum class GraphNodeKind : uint8_t { kernel, copy, fill };

/// One piece of recorded work; members of the other kinds are empty.
struct TREADLE_API GraphNode {
  GraphNodeKind kind;
  // kernel
  std::string kernel{};                     ///< its name, with template arguments
  std::array<unsigned, 3> grid{}, block{};  ///< x, y, z
  size_t shared_bytes = 0;                  ///< dynamic shared memory
  std::vector<std::byte> arguments{};       ///< the parameters, as a std::tuple lays them out
  // copy and fill
  void* target = nullptr;
  const void* source = nullptr;
  size_t bytes = 0;
  int value = 0;

  /// The addresses in [begin, begin + size) that the node was given: words of a kernel's arguments, or
  /// target and source.
  std::vector<const void*> addresses_in(const void* begin, size_t size) const;
};

/// Work in the order of its submission.
class TREADLE_API RecordedGraph final : public CapturedGraph {
 public:
  using Run = std::function<void(const GraphNode&)>;

  const std::vector<GraphNode>& nodes() const { return nodes_; }
  void add(GraphNode node, Run run);
  void launch() override;

 private:
  std::vector<GraphNode> nodes_;
  std::vector<Run> runs_;
};

/// Runtime::capture of the simt device.
TREADLE_API std::unique_ptr<RecordedGraph> capture_graph(const std::function<void()>& work);

/// The graph that this thread's work on `stream` goes into; null unless it is captured.
RecordedGraph* graph_captured_from(const Stream& stream);

/// Throws DeviceError saying what the work does, if this thread is capturing a graph.
void refuse_while_capturing(const char* what);

/// While this thread is capturing: takes the memory, to be freed at the end of the capture, which then fails.
/// Else false.
bool postpone_free(void* memory);

}  // namespace treadle::simt
