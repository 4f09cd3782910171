#include "treadle/ops/loss/mse.h"

#include "treadle/ops/loss/declaration/elementwise_loss.h"
#include "treadle/ops/pointwise/pointwise.h"
#include "treadle/ops/pointwise/pointwise_chain.h"

namespace treadle {
namespace {

const Attributes& term(const Attributes&) {
  static const Attributes chain = Attributes::of(PointwiseChain::parse("sub(x0, x1); mul(t0, t0)"));
  return chain;
}

std::vector<Tensor> gradient(const TermGradient& of) {
  const Tensor dx = (of.x() - of.target()) * of.g;
  return {of.context.needs(0) ? dx : Tensor(), of.context.needs(1) ? neg(dx) : Tensor()};
}

/// A term is at most 8 times the largest operand for operands up to 2.
const ElementwiseLoss kLoss{
    .name = "mse",
    .summary = "loss = Σ (x - target)² / n",
    .term = term,
    .reference = [](const double* x, const Attributes&) { return (x[0] - x[1]) * (x[0] - x[1]); },
    .gradient = gradient,
    .gradient_factor = 2,
    .roundings = 24};

}  // namespace

namespace ops {

/// Its variants sum the terms as they compute them.
void register_mse(Registry& registry) {
  Op op = elementwise_loss_op(kLoss);
  op.compose = {};
  registry.add(std::move(op));
}

}  // namespace ops

Tensor mse(const Tensor& x, const Tensor& target, const std::string& reduction) {
  static const Op& op = op_named("mse");
  return apply(op, {x, target}, Attributes::of(LossOptions{reduction}))[0];
}

}  // namespace treadle
