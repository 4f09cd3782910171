/// Program: what planning makes of a graph of steps: places in an arena, a variant for each step.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "treadle/compile/recorder.h"
#include "treadle/graph/step_graph.h"
#include "treadle/graph/variant.h"

namespace treadle {

/// A buffer of the graph, and when it is needed; a result lies in the arena meanwhile.
struct ProgramBuffer : GraphBuffer {
  int first = -1, last = -1;  ///< steps that use it
  size_t offset = 0;          ///< in the arena
};

struct ProgramStep : Step {
  const Variant* variant = nullptr;
  /// Variant → best time in seconds, where variants were measured; else empty.
  std::map<std::string, double> measured = {};
  /// Whether it depends on captured tensors alone, which no step writes: a replay runs it again only where
  /// one has changed. Its results lie in the arena from the first step to the last.
  bool prepared = false;
};

/// Steps that run once for each of several pieces of a batch, see cut_into_pieces().
struct PieceLoop {
  int first = 0, end = 0;  ///< steps, without the last
  int pieces = 1;
};

/// What the caller gets: a value in an output buffer, or memory that was there before.
struct ProgramOutput {
  int value = kNoValue;
  IntrusivePtr<Storage> existing;  ///< of a captured tensor
  int input = -1;                  ///< the argument itself
};

/// A leaf's gradient that the function leaves to the caller; neither value nor tensor where it leaves none.
struct ExportedGradient : ProgramOutput {
  IntrusivePtr<AutogradState> leaf;
  bool reads_before = false;  ///< it is made of the gradient that was there before
};

/// Bytes and counts of a program.
struct ProgramStatistics {
  int recorded_ops = 0;
  size_t arena_bytes = 0;
  size_t separate_bytes = 0;  ///< what the arena's buffers would take without sharing
  size_t output_bytes = 0;
};

/// The captured tensors that steps write into.
struct CapturedWrites {
  std::vector<IntrusivePtr<Storage>> storages;
  size_t first_step = 0;  ///< that writes into one; the number of steps where none does
};

class TREADLE_API Program {
 public:
  Device device;
  std::vector<ProgramBuffer> buffers;
  std::vector<GraphValue> values;
  std::vector<ProgramStep> steps;
  std::vector<PieceLoop> loops;  ///< by rising steps
  std::vector<ProgramOutput> outputs;
  std::vector<ExportedGradient> gradients;
  int arguments = 0;
  /// Leaves whose gradients are read as they are before a replay: inputs number `arguments` and on.
  std::vector<IntrusivePtr<AutogradState>> gradient_inputs;
  std::vector<ChangingNumbers> numbers;
  std::vector<HostWork> host_work;
  std::vector<std::string> fusions;
  ProgramStatistics statistics;
  int output_buffers = 0;

  /// The buffer that a value lies in.
  const ProgramBuffer& buffer_of(int value) const { return buffers[size_t(values[size_t(value)].buffer)]; }
  /// The number of the input that a buffer is, gradients behind arguments; -1 where it is none.
  int input_number(const GraphBuffer& buffer) const {
    if (buffer.kind == GraphBuffer::Kind::gradient) return arguments + buffer.number;
    return buffer.kind == GraphBuffer::Kind::input ? buffer.number : -1;
  }
  /// Arguments, and gradients that are read as they are before a replay.
  int inputs() const { return arguments + int(gradient_inputs.size()); }
  /// How often a replay runs a step: once, but in a loop.
  int pieces_of(size_t step) const;
  /// The steps of a replay in the order in which they run, those of a loop once for each piece.
  std::vector<size_t> run_order() const;
  /// The input of that number in a call.
  const Tensor& input(std::span<const Tensor> arguments, int number) const;
  CapturedWrites captured_writes() const;
  /// Steps, operands, fusions, bytes, the arena: what `treadle summary --program` prints.
  std::string to_string() const;
};

/// Builds a program from a recording of a function of `arguments` that returned `outputs`, with fused steps
/// and in pieces of its batch if `fuse` is set. Throws RecordingError.
std::unique_ptr<Program> build_program(Recorder& recorded, const std::vector<Tensor>& outputs,
                                       std::span<const Tensor> arguments, bool fuse = true);

/// Checks a program: operands fit the ops' rules, nothing is read before it is written, nothing lies over
/// anything that is still needed, every address is inside its memory. Throws Error naming the step.
void verify_program(const Program& program);

}  // namespace treadle
