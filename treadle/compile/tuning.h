/// Tuning: which variant runs each step of a program.
#pragma once

#include <vector>

#include "treadle/compile/program_memory.h"
#include "treadle/compile/replay.h"

namespace treadle {

/// What the choice of a variant may look at in an address: whether it is a multiple of this.
inline constexpr size_t kVariantAlignment = 16;

/// Chooses variants for the calls in `memory`, whose arguments and results are bound.
class Tuning {
 public:
  Tuning(Program& program, ProgramMemory& memory, ReplayHostWork& host_work, Replay& replay)
      : program_(program), memory_(memory), host_work_(host_work), replay_(replay) {}

  /// As the user named them, else by declared order. Whether that leaves a step to measurement.
  bool choose_by_rule();
  /// Measures the steps that rules leave open, and runs all of them once. What they write of captured tensors
  /// is a copy meanwhile.
  void measure();
  /// Whether a step is left to measurement that depends on how many zeros its operands have.
  bool zeros_matter() const;
  /// By input, gradients behind arguments: whether other variants apply where its address is no multiple of
  /// kVariantAlignment. Arguments are to be bound anew afterwards.
  std::vector<bool> inputs_with_alignment();

 private:
  void measure_steps();
  void time_variants(size_t step);
  std::vector<std::vector<const Variant*>> applicable() const;

  Program& program_;
  ProgramMemory& memory_;
  ReplayHostWork& host_work_;
  Replay& replay_;
};

}  // namespace treadle
