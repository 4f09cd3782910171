/// FixedOperands: places for arguments and results that stay where they are.
#pragma once

#include <span>
#include <vector>

#include "treadle/compile/program_memory.h"
#include "treadle/compile/replay_results.h"

namespace treadle {

/// A captured graph keeps its addresses: arguments are copied to a fixed place before it is launched, results
/// from one afterwards.
class FixedOperands {
 public:
  /// Copies the arguments, and gradients behind them, and binds the places.
  void bind(const Program& program, std::span<const Tensor> arguments, const ReplayResults& results,
            ProgramMemory& memory);
  void copy_results(const ReplayResults& results) const;

 private:
  std::vector<IntrusivePtr<Storage>> inputs_, outputs_;
};

}  // namespace treadle
