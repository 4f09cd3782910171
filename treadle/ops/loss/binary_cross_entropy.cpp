#include "treadle/ops/loss/binary_cross_entropy.h"

#include <algorithm>
#include <cmath>

#include "treadle/ops/loss/declaration/elementwise_loss.h"
#include "treadle/ops/pointwise/pointwise.h"
#include "treadle/ops/pointwise/pointwise_chain.h"

namespace treadle {
namespace {

constexpr double kLeastLog = -100, kLeastVariance = 1e-12;

/// Numbers behind the weight x2: 1 and the least logarithm.
const Attributes& term(const Attributes&) {
  static const Attributes chain = Attributes::of(PointwiseChain::parse(
      "log(x0); maximum(t0, x4); mul(t1, x1); sub(x3, x0); log(t3); maximum(t4, x4); sub(x3, x1); "
      "mul(t5, t6); add(t2, t7); mul(t8, x2); neg(t9)"));
  return chain;
}

double clamped_log(double x) { return std::isnan(std::log(x)) ? NAN : std::max(std::log(x), kLeastLog); }

double reference(const double* x, const Attributes&) {
  return -x[2] * (x[1] * clamped_log(x[0]) + (1 - x[1]) * clamped_log(1 - x[0]));
}

Tensor clamped_log(const Tensor& x) { return maximum(log(x), kLeastLog); }

/// dx = g·(x - t) / (x·(1 - x)); dt = g·(ln(1 - x) - ln x).
std::vector<Tensor> gradient(const TermGradient& of) {
  const Tensor& x = of.x();
  std::vector<Tensor> gradients(of.operands.size());
  if (of.context.needs(0)) gradients[0] = of.g * (x - of.target()) / maximum(x * (1 - x), kLeastVariance);
  if (of.context.needs(1)) gradients[1] = of.g * (clamped_log(1 - x) - clamped_log(x));
  return gradients;
}

/// Certain, and right or wrong.
std::vector<TestCase> more_cases() {
  TestInput whole{{3, 37}, {TestFill::integers, 0, 1}};
  whole.differentiable = false;
  TestInput outside{{41}, {TestFill::apart, -1, 2}};
  outside.differentiable = false;
  return {{"certain", {whole, whole}, Attributes::of(LossOptions{"none"})},
          {"outside", {outside, outside}, Attributes::of(LossOptions{"none"})}};
}

const ElementwiseLoss kLoss{.name = "binary_cross_entropy",
                            .summary = "loss = -Σ weight·(target·ln x + (1 - target)·ln(1 - x)) / n",
                            .term = term,
                            .numbers =
                                [](const Attributes&) {
                                  return std::vector{1., kLeastLog};
                                },
                            .reference = reference,
                            .gradient = gradient,
                            .weights = {"weight"},
                            .roundings = 16,
                            .x = {TestFill::apart, 0.02, 0.98},
                            .target = {TestFill::apart, 0, 1},
                            .more_cases = more_cases};

}  // namespace

namespace ops {

void register_binary_cross_entropy(Registry& registry) { registry.add(elementwise_loss_op(kLoss)); }

}  // namespace ops

Tensor binary_cross_entropy(const Tensor& x, const Tensor& target, const Tensor& weight,
                            const std::string& reduction) {
  static const Op& op = op_named("binary_cross_entropy");
  return apply(op, {x, target, weight}, Attributes::of(LossOptions{reduction}))[0];
}

}  // namespace treadle
