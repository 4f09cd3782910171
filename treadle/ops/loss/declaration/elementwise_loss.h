/// Losses that are made of a term for each element: what each says, and the op that follows from it.
#pragma once

#include <vector>

#include "treadle/graph/op.h"
#include "treadle/graph/registry.h"
#include "treadle/ops/loss/loss_options.h"

namespace treadle {

/// The operands of a gradient: x, target and what else the loss takes, undefined where it was left out; half
/// types as f32. `g` is the upstream gradient of each term, weight included.
struct TermGradient {
  const GradientContext& context;
  std::vector<Tensor> operands;
  Tensor g;

  const Tensor& x() const { return operands[0]; }
  const Tensor& target() const { return operands[1]; }
};

template <class Options>
const LossOptions& loss_options_of(const Attributes& attributes) {
  return attributes.as<Options>();
}

struct ElementwiseLoss {
  const char *name, *summary;
  /// A term as the options of pointwise_chain: the operands are x0 for x, x1 for the target and so on, 1
  /// where they are left out, then `numbers`.
  const Attributes& (*term)(const Attributes& attributes) = nullptr;
  std::vector<double> (*numbers)(const Attributes& attributes) = [](const Attributes&) {
    return std::vector<double>();
  };
  double (*reference)(const double* operands, const Attributes& attributes) = nullptr;
  /// Gradients of the operands; where one is broadcast, of its elements before they are summed.
  std::vector<Tensor> (*gradient)(const TermGradient& of) = nullptr;
  /// What `g` is multiplied by before.
  double gradient_factor = 1;

  /// Behind x and the target: operands that may be left out and that broadcast to x's shape. The first one
  /// multiplies each term, and such a loss has no options but LossOptions.
  std::vector<const char*> weights = {};
  const OptionsSchema* options = &schema_of<LossOptions>();
  const LossOptions& (*loss_options)(const Attributes& attributes) = loss_options_of<LossOptions>;
  bool knows_batchmean = false;
  /// Throws ValueError for options beyond LossOptions that are refused.
  void (*check)(const Attributes& attributes) = [](const Attributes&) {};

  /// A term's rounding errors are at most so many units of the largest operand and of the term.
  double roundings = 4;
  TestFill x = {}, target = {};
  std::vector<TestCase> (*more_cases)() = [] { return std::vector<TestCase>(); };
  std::vector<RefusedCall> (*more_refused_calls)() = [] { return std::vector<RefusedCall>(); };
};

/// `loss` stays where it is.
Op elementwise_loss_op(const ElementwiseLoss& loss);

}  // namespace treadle
