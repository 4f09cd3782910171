/// ProgramInstance: a program with memory of its own, ready to be replayed.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "treadle/compile/fixed_operands.h"
#include "treadle/compile/program_memory.h"
#include "treadle/compile/replay.h"
#include "treadle/compile/replay_host_work.h"
#include "treadle/compile/replay_results.h"
#include "treadle/compile/replay_threads.h"

namespace treadle {

/// One thread at a time runs an instance; several instances may run one program at the same time when it
/// mutates nothing: each has an arena and kept blocks of its own.
class ProgramInstance {
 public:
  /// With `graph`, replays after the first one launch a graph that the device has captured, if it can.
  ProgramInstance(std::shared_ptr<Program> program, bool graph);

  /// Replays the program. `results` has one entry per output; memory of results that the caller has dropped
  /// is used again.
  void run(std::span<const Tensor> arguments, std::span<Tensor> results);

  /// Chooses the variants of the program's steps: as the user named them, else by measurements with these
  /// arguments where `measure` is set, else by declared order. What steps write of captured tensors is a copy
  /// meanwhile.
  void choose_variants(std::span<const Tensor> arguments, bool measure);
  /// The same by measurements on an instance that has been replayed, where variants are among them that zeros
  /// in their operands decide: a network that learns makes more of them. Whether it did.
  bool choose_variants_again(std::span<const Tensor> arguments);
  /// By input, gradients behind arguments: whether other variants apply where its address is no multiple of
  /// kVariantAlignment. For use after choose_variants.
  std::vector<bool> inputs_with_alignment();

  /// Bytes of the arena, scratch included, of what steps keep, and of the outputs.
  size_t memory_bytes() const { return memory_.bytes() + program_->statistics.output_bytes; }
  const Program& program() const { return *program_; }
  /// The captured graph; null before the second replay, and where replays are a loop.
  const CapturedGraph* graph() const { return replay_.graph(); }
  /// How many threads share a replay's regions, as measured.
  int threads() const { return threads_.threads(); }
  const Storage& arena() const { return memory_.arena(); }

 private:
  void bind(std::span<const Tensor> arguments);
  void run_steps();

  std::shared_ptr<Program> program_;
  ReplayHostWork host_work_;
  ProgramMemory memory_;
  ReplayResults results_;
  std::unique_ptr<FixedOperands> fixed_;  ///< for graphs
  Replay replay_;
  ReplayThreads threads_;
};

}  // namespace treadle
