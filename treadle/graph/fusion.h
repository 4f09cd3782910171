/// Fusions: what an op declares that it does in the place of several others. They are added to the registry
/// beside the op; compile() applies them.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "treadle/graph/spec.h"
#include "treadle/graph/step_graph.h"

namespace treadle {

/// An op that a fusion names. The registry is still being filled when fusions are declared: hence a function,
/// which the header of the op has.
using OpHandle = std::function<const Op&()>;

/// Steps that a chain was found in.
struct MatchedChain {
  std::vector<const Attributes*> attributes;  ///< of each step
  bool gradient_flows = false;                ///< from the first step's result to its operands
  int operands = 0;                           ///< how many the first step has, the last of them not left out
  TensorSpec result = {};                     ///< output 0 of the last step
  std::vector<TensorSpec> further = {};       ///< what steps read beside the one before, in order

  template <class Options>
  const Options& options(size_t step) const {
    return attributes[step]->as<Options>();
  }
};

/// A call of `op` that takes the place of a chain; its operands are the first step's, then from number
/// `further` on what else the chain reads: those between are left out. -1: the chain may read nothing else.
struct FusedCall {
  const Op* op;
  Attributes attributes;
  int further = -1;
};

/// Before differentiation: a chain of ops, each of which reads output 0 of the one before, and nobody else
/// does. What takes its place has a gradient of its own, which may be cheaper than that of the chain.
struct ChainFusion {
  std::vector<OpHandle> chain;
  /// None where the attributes do not allow it.
  std::function<std::optional<FusedCall>(const MatchedChain& chain)> fuse;
  /// Whether the fused op makes the first one's other outputs, too; else nobody may read them.
  bool keeps_outputs = false;
  /// Whether a step may read the one before as any operand, as sums do; else it is operand 0.
  bool any_operand = false;
};

/// After differentiation: steps, gradients and updates among them, that fewer steps do.
struct StepFusion {
  /// What it fuses, first the op where it begins. A program in which the user names a variant of one is left
  /// as it is.
  std::vector<OpHandle> ops;
  /// Looks at the step `at`, a call of ops[0]; where the pattern begins there, changes the graph and returns
  /// what was done, such as "matmul + relu_gradient → linear_input_gradient".
  std::function<std::optional<std::string>(StepGraph& graph, size_t at)> fuse;
  /// Takes what the others leave: tried when none of them fits any more.
  bool last = false;
};

}  // namespace treadle
