#include "treadle/ops/loss/l1_loss.h"

#include <cmath>

#include "treadle/ops/loss/declaration/elementwise_loss.h"
#include "treadle/ops/pointwise/pointwise.h"
#include "treadle/ops/pointwise/pointwise_chain.h"

namespace treadle {
namespace {

const Attributes& term(const Attributes&) {
  static const Attributes chain = Attributes::of(PointwiseChain::parse("sub(x0, x1); abs(t0)"));
  return chain;
}

std::vector<Tensor> gradient(const TermGradient& of) {
  const Tensor dx = apply(abs_gradient_op(), {of.x() - of.target(), of.g})[0];
  return {dx, of.context.needs(1) ? neg(dx) : Tensor()};
}

const ElementwiseLoss kLoss{
    .name = "l1_loss",
    .summary = "loss = Σ |x - target| / n",
    .term = term,
    .reference = [](const double* x, const Attributes&) { return std::fabs(x[0] - x[1]); },
    .gradient = gradient};

}  // namespace

namespace ops {

void register_l1_loss(Registry& registry) { registry.add(elementwise_loss_op(kLoss)); }

}  // namespace ops

Tensor l1_loss(const Tensor& x, const Tensor& target, const std::string& reduction) {
  static const Op& op = op_named("l1_loss");
  return apply(op, {x, target}, Attributes::of(LossOptions{reduction}))[0];
}

}  // namespace treadle
