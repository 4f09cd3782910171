// How a program prints itself.
#include <fmt/format.h>

#include <algorithm>

#include "treadle/compile/program.h"
#include "treadle/core/error.h"
#include "treadle/graph/op.h"

namespace treadle {
namespace {

using Kind = ProgramBuffer::Kind;

std::string bytes_text(size_t bytes) {
  if (bytes < 10 * 1024) return fmt::format("{} B", bytes);
  if (bytes < 10 * 1024 * 1024) return fmt::format("{:.1f} KiB", double(bytes) / 1024);
  return fmt::format("{:.1f} MiB", double(bytes) / (1024 * 1024));
}

std::string buffer_text(const Program& program, int buffer) {
  const ProgramBuffer& b = program.buffers[size_t(buffer)];
  switch (b.kind) {
    case Kind::input:
      return fmt::format("input {}", b.number);
    case Kind::gradient:
      return fmt::format("gradient {}", b.number);
    case Kind::numbers:
      return fmt::format("numbers {}", b.number);
    case Kind::output:
      return fmt::format("result {}", b.number);
    case Kind::captured:
    case Kind::constant:
      return fmt::format("captured {}", buffer);
    default:
      return fmt::format("+{}", b.offset);
  }
}

std::string operand_text(const Program& program, int value) {
  if (value == kNoValue) return "none";
  const GraphValue& v = program.values[size_t(value)];
  return fmt::format("{}:{}", buffer_text(program, v.buffer), v.spec.shape);
}

std::string list_text(const Program& program, const std::vector<int>& values) {
  std::string text;
  for (int value : values) text += (text.empty() ? "" : ", ") + operand_text(program, value);
  return text;
}

/// Bytes that a step reads and writes.
size_t bytes_moved(const Program& program, const ProgramStep& step) {
  size_t bytes = 0;
  auto add = [&](int value) {
    if (value == kNoValue) return;
    const TensorSpec& spec = program.values[size_t(value)].spec;
    bytes += size_t(spec.shape.numel()) * size_of(spec.dtype);
  };
  for (int value : step.inputs) add(value);
  for (int value : step.outputs) add(value);
  return bytes;
}

}  // namespace

std::string Program::to_string() const {
  std::string text = fmt::format("{} steps from {} recorded ops\n", steps.size(), statistics.recorded_ops);
  for (size_t i = 0; i < steps.size(); ++i) {
    const ProgramStep& step = steps[i];
    std::string results = list_text(*this, step.outputs);
    text += fmt::format("{:3}{} {:<36} {:<14} {:>10}  {} → {}\n", i + 1, step.prepared ? "*" : " ",
                        step.op->name, step.variant ? step.variant->name : "",
                        bytes_text(bytes_moved(*this, step)), list_text(*this, step.inputs), results);
  }
  if (std::any_of(steps.begin(), steps.end(), [](const ProgramStep& step) { return step.prepared; }))
    text += "* run again only where a captured tensor has changed\n";
  for (const PieceLoop& loop : loops)
    text += fmt::format("steps {} to {} run for each of {} pieces of the batch\n", loop.first + 1, loop.end,
                        loop.pieces);
  for (const std::string& fusion : fusions) text += fmt::format("fused: {}\n", fusion);
  double share =
      statistics.separate_bytes ? double(statistics.arena_bytes) / double(statistics.separate_bytes) : 1;
  text +=
      fmt::format("arena {} for {} of results ({:.0f} %), returned {}\n", bytes_text(statistics.arena_bytes),
                  bytes_text(statistics.separate_bytes), 100 * share, bytes_text(statistics.output_bytes));
  return text;
}

}  // namespace treadle
