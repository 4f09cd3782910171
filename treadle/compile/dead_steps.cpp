#include "treadle/compile/dead_steps.h"

#include <algorithm>

namespace treadle {

void remove_dead_steps(StepGraph& graph) {
  std::vector<bool> needed;  // buffers
  for (const GraphBuffer& buffer : graph.buffers())
    needed.push_back(buffer.kind != GraphBuffer::Kind::result);
  auto is_needed = [&](int value) { return value != kNoValue && needed[size_t(graph.buffer_of(value))]; };
  for (size_t i = graph.size(); i-- > 0;) {
    const Step& step = graph[i];
    // What a step updates in place are its outputs, too.
    if (std::none_of(step.outputs.begin(), step.outputs.end(), is_needed)) {
      graph.erase(i);
      continue;
    }
    for (int value : step.inputs)
      if (value != kNoValue) needed[size_t(graph.buffer_of(value))] = true;
  }
}

}  // namespace treadle
