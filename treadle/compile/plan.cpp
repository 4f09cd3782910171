#include "treadle/compile/plan.h"

#include <algorithm>

#include "treadle/compile/arena.h"
#include "treadle/core/error.h"
#include "treadle/graph/op.h"

namespace treadle {
namespace {

/// Calls visit(step, value) for each operand and result.
template <class Visit>
void each_value(const StepGraph& graph, Visit visit) {
  for (size_t i = 0; i < graph.size(); ++i)
    for (const auto* values : {&graph[i].inputs, &graph[i].outputs})
      for (int value : *values)
        if (value != kNoValue) visit(i, value);
}

/// One device runs all steps.
Device device_of(const StepGraph& graph) {
  bool found = false;
  Device device = graph.buffers().empty() ? Device{} : graph.buffers().back().device;
  each_value(graph, [&](size_t at, int value) {
    const Device other = graph.device_of(value);
    require<RecordingError>(!found || other == device,
                            "a compiled function works on {} and, in {}, on {}: its tensors must be on one "
                            "device",
                            device, graph[at].op->name, other);
    device = other, found = true;
  });
  return device;
}

/// What is symbolic in a recording has no memory of its own in the program.
ProgramBuffer planned(const GraphBuffer& buffer) {
  ProgramBuffer copy{buffer};
  if (!buffer.is_fixed()) copy.storage = {};
  return copy;
}

void find_lifetimes(const StepGraph& graph, std::vector<ProgramBuffer>& buffers) {
  each_value(graph, [&](size_t at, int value) {
    ProgramBuffer& buffer = buffers[size_t(graph.buffer_of(value))];
    if (buffer.first < 0) buffer.first = int(at);
    buffer.last = int(at);
  });
}

/// What a loop reads or writes in several pieces, and what comes from before it or is read behind it, is
/// needed from its first step to its last.
void extend_over_loops(const StepGraph& graph, const std::vector<PieceLoop>& loops,
                       std::vector<ProgramBuffer>& buffers) {
  for (const PieceLoop& loop : loops)
    each_value(graph, [&](size_t at, int value) {
      if (int(at) < loop.first || int(at) >= loop.end) return;
      ProgramBuffer& buffer = buffers[size_t(graph.buffer_of(value))];
      const bool is_inner =
          graph.values()[size_t(value)].piece == 0 && buffer.first >= loop.first && buffer.last < loop.end;
      if (is_inner) return;
      buffer.first = std::min(buffer.first, loop.first);
      buffer.last = std::max(buffer.last, loop.end - 1);
    });
}

bool is_fixed_or_prepared(const StepGraph& graph, const Program& program, int value, size_t at) {
  const int64_t last_write = graph.last_write(value, graph.size());
  if (graph.memory_of(value).is_fixed()) return last_write < 0;
  const int64_t maker = graph.maker_of(value, at);
  return maker >= 0 && maker == last_write && program.steps[size_t(maker)].prepared;
}

bool is_prepared(const StepGraph& graph, const Program& program, size_t at) {
  const Step& step = graph[at];
  bool reads = false;
  for (int value : step.inputs) {
    if (value == kNoValue) continue;
    if (!is_fixed_or_prepared(graph, program, value, at)) return false;
    reads = true;
  }
  for (int value : step.outputs)
    if (value != kNoValue &&
        (graph.memory_of(value).kind != GraphBuffer::Kind::result || graph.maker_of(value, at) >= 0 ||
         graph.last_write(value, graph.size()) != int64_t(at)))
      return false;
  return reads && step.op->mutates.empty();
}

/// What they make stays: it is alive all the time.
void prepare_steps(const StepGraph& graph, Program& program) {
  for (size_t i = 0; i < graph.size(); ++i) {
    program.steps[i].prepared = is_prepared(graph, program, i);
    if (!program.steps[i].prepared) continue;
    for (int value : graph[i].outputs) {
      if (value == kNoValue) continue;
      ProgramBuffer& buffer = program.buffers[size_t(graph.buffer_of(value))];
      buffer.first = 0, buffer.last = int(graph.size()) - 1;
    }
  }
}

void count_bytes(const std::vector<ProgramBuffer>& buffers, ProgramStatistics& statistics) {
  for (const ProgramBuffer& buffer : buffers) {
    if (buffer.first < 0) continue;
    if (buffer.kind == GraphBuffer::Kind::result) statistics.separate_bytes += buffer.bytes;
    if (buffer.kind == GraphBuffer::Kind::output) statistics.output_bytes += buffer.bytes;
  }
}

}  // namespace

void plan(const StepGraph& graph, Program& program) {
  program.device = device_of(graph);
  for (const GraphBuffer& buffer : graph.buffers()) program.buffers.push_back(planned(buffer));
  program.values = graph.values();
  for (size_t i = 0; i < graph.size(); ++i) program.steps.push_back({graph[i]});
  program.output_buffers = graph.outputs();
  find_lifetimes(graph, program.buffers);
  extend_over_loops(graph, program.loops, program.buffers);
  prepare_steps(graph, program);
  program.statistics.arena_bytes = plan_arena(program.buffers);
  count_bytes(program.buffers, program.statistics);
}

}  // namespace treadle
