/// Several pointwise ops as one: a program over elements, in which each step is a call of a pointwise op.
/// Compiled functions make chains of neighbouring ops, whose results in between then never reach memory.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "treadle/graph/attributes.h"
#include "treadle/graph/spec.h"

namespace treadle {

class Registry;
struct Op;

/// A call of `op`. Operand i is input i of the chain, or below that the result of an earlier step: step k's
/// is number inputs + k.
struct ChainStep {
  std::string op;
  Attributes attributes;
  std::vector<int> operands;
};

/// The options of `pointwise_chain`. The last step's result is the chain's.
class PointwiseChain {
 public:
  /// More would not fit a kernel's arguments.
  static constexpr int kMostInputs = 12, kMostSteps = 24, kMostSlots = 12;

  PointwiseChain() = default;
  PointwiseChain(int inputs, std::vector<ChainStep> steps);
  /// What text() gives: "mul(x0, x1); leaky_relu(t0, slope=0.25)", where t0 is the first step's result.
  /// Throws ValueError.
  static PointwiseChain parse(const std::string& text);
  std::string text() const;

  int inputs() const { return inputs_; }
  const std::vector<ChainStep>& steps() const { return steps_; }
  /// Where each step's result is kept until nobody reads it any more: no slot of one of its operands.
  const std::vector<int>& slots() const { return slots_; }
  int slot_count() const { return slot_count_; }
  /// Whether it is within those; no call takes another.
  bool fits() const {
    return inputs_ <= kMostInputs && int(steps_.size()) <= kMostSteps && slot_count_ <= kMostSlots;
  }

 private:
  int inputs_ = 0, slot_count_ = 0;
  std::vector<ChainStep> steps_;
  std::vector<int> slots_;
};

/// The dtype that a chain computes in: that of its first input. Throws DTypeError where it is not floating.
DType chain_dtype(Specs inputs);

const Op& pointwise_chain_op();

/// Says that compiled functions may take calls of this op into chains: it computes each element of one result
/// from the same element of its operands, which are of one floating dtype, a condition aside.
void add_to_chains(Registry& registry, const std::string& op);

}  // namespace treadle
