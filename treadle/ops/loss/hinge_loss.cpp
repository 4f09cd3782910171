#include "treadle/ops/loss/hinge_loss.h"

#include <algorithm>

#include "treadle/ops/loss/declaration/elementwise_loss.h"
#include "treadle/ops/pointwise/pointwise.h"
#include "treadle/ops/pointwise/pointwise_chain.h"

namespace treadle {
namespace {

const Attributes& term(const Attributes&) {
  static const Attributes chain = Attributes::of(PointwiseChain::parse("mul(x0, x1); sub(x2, t0); relu(t1)"));
  return chain;
}

/// NaN stays.
double reference(const double* x, const Attributes&) {
  const double distance = 1 - x[0] * x[1];
  return distance < 0 ? 0 : distance;
}

std::vector<Tensor> gradient(const TermGradient& of) {
  const Tensor open = neg(apply(relu_gradient_op(), {1 - of.x() * of.target(), of.g})[0]);
  return {of.context.needs(0) ? open * of.target() : Tensor(),
          of.context.needs(1) ? open * of.x() : Tensor()};
}

/// A term is at most 5 for operands up to 2.
const ElementwiseLoss kLoss{.name = "hinge_loss",
                            .summary = "loss = Σ max(0, 1 - target·x) / n",
                            .term = term,
                            .numbers = [](const Attributes&) { return std::vector{1.}; },
                            .reference = reference,
                            .gradient = gradient,
                            .roundings = 8};

}  // namespace

namespace ops {

void register_hinge_loss(Registry& registry) { registry.add(elementwise_loss_op(kLoss)); }

}  // namespace ops

Tensor hinge_loss(const Tensor& x, const Tensor& target, const std::string& reduction) {
  static const Op& op = op_named("hinge_loss");
  return apply(op, {x, target}, Attributes::of(LossOptions{reduction}))[0];
}

}  // namespace treadle
