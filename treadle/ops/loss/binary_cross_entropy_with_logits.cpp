#include "treadle/ops/loss/binary_cross_entropy_with_logits.h"

#include <cmath>

#include "treadle/ops/loss/declaration/elementwise_loss.h"
#include "treadle/ops/pointwise/pointwise.h"
#include "treadle/ops/pointwise/pointwise_chain.h"

namespace treadle {
namespace {

/// The operands are x0 = x, x1 = t, x2 = w, x3 = p, x4 = 1.
const Attributes& term(const Attributes&) {
  static const Attributes chain = Attributes::of(PointwiseChain::parse(
      "sub(x4, x1); mul(x1, x3); add(t0, t1); neg(x0); softplus(t3); mul(t2, t4); mul(t0, x0); add(t6, t5); "
      "mul(t7, x2)"));
  return chain;
}

double reference(const double* x, const Attributes&) {
  const double log_positive = -std::log1p(std::exp(-x[0])), log_negative = -std::log1p(std::exp(x[0]));
  return -x[2] * (x[3] * x[1] * log_positive + (1 - x[1]) * log_negative);
}

/// dx = g·((1 - t + p·t)·σ(x) - p·t), dt = g·((p - 1)·softplus(-x) - x), dp = g·t·softplus(-x).
std::vector<Tensor> gradient(const TermGradient& of) {
  const Tensor &x = of.x(), &t = of.target(), &p = of.operands[3];
  std::vector<Tensor> gradients(4);
  if (of.context.needs(0))
    gradients[0] = of.g * (p.defined() ? (1 - t + p * t) * sigmoid(x) - p * t : sigmoid(x) - t);
  if (of.context.needs(1)) gradients[1] = of.g * (p.defined() ? (p - 1) * softplus(-x) - x : -x);
  if (of.context.needs(3)) gradients[3] = of.g * t * softplus(-x);
  return gradients;
}

/// Where e^|x| is beyond f32.
std::vector<TestCase> more_cases() {
  const TestInput large{{5, 31}, {TestFill::apart, -600, 600}};
  TestInput target{{5, 31}, {TestFill::apart, 0, 1}};
  return {{"large", {large, target}, Attributes::of(LossOptions{"none"})}};
}

const ElementwiseLoss kLoss{
    .name = "binary_cross_entropy_with_logits",
    .summary = "loss = -Σ weight·(pos_weight·target·ln σ(x) + (1 - target)·ln(1 - σ(x))) / n",
    .term = term,
    .numbers = [](const Attributes&) { return std::vector{1.}; },
    .reference = reference,
    .gradient = gradient,
    .weights = {"weight", "pos_weight"},
    .roundings = 32,
    .x = {TestFill::apart, -4, 4},
    .target = {TestFill::apart, 0, 1},
    .more_cases = more_cases};

}  // namespace

namespace ops {

void register_binary_cross_entropy_with_logits(Registry& registry) {
  registry.add(elementwise_loss_op(kLoss));
}

}  // namespace ops

Tensor binary_cross_entropy_with_logits(const Tensor& x, const Tensor& target, const Tensor& weight,
                                        const Tensor& pos_weight, const std::string& reduction) {
  static const Op& op = op_named("binary_cross_entropy_with_logits");
  return apply(op, {x, target, weight, pos_weight}, Attributes::of(LossOptions{reduction}))[0];
}

}  // namespace treadle
