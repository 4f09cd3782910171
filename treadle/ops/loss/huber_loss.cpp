#include "treadle/ops/loss/huber_loss.h"

#include <cmath>

#include "treadle/core/error.h"
#include "treadle/ops/loss/declaration/elementwise_loss.h"
#include "treadle/ops/loss/l1_loss.h"
#include "treadle/ops/pointwise/pointwise.h"
#include "treadle/ops/pointwise/pointwise_chain.h"

namespace treadle {
namespace {

struct HuberLossOptions : LossOptions {
  double delta = 1;
  template <class Field>
  static void describe(Field& field) {
    LossOptions::describe(field);
    field("delta", &HuberLossOptions::delta, "where squares turn into straight lines");
  }
};

double delta_of(const Attributes& attributes) { return attributes.as<HuberLossOptions>().delta; }

/// With m = min(|d|, δ) it is m·(|d| - m/2).
const Attributes& term(const Attributes&) {
  static const Attributes chain = Attributes::of(
      PointwiseChain::parse("sub(x0, x1); abs(t0); minimum(t1, x2); mul(t2, x3); sub(t1, t3); mul(t2, t4)"));
  return chain;
}

double reference(const double* x, const Attributes& attributes) {
  const double d = std::fabs(x[0] - x[1]), delta = delta_of(attributes);
  return d <= delta ? d * d / 2 : delta * d - delta * delta / 2;
}

std::vector<Tensor> gradient(const TermGradient& of) {
  const double delta = delta_of(of.context.attributes());
  const Tensor dx = clamp(of.x() - of.target(), -delta, delta) * of.g;
  return {dx, of.context.needs(1) ? neg(dx) : Tensor()};
}

void check(const Attributes& attributes) {
  require<ValueError>(delta_of(attributes) > 0, "huber_loss: delta {} is not positive", delta_of(attributes));
}

Attributes with(double delta, const char* reduction = "mean") {
  return Attributes::of(HuberLossOptions{{reduction}, delta});
}

std::vector<TestCase> more_cases() {
  const TestInput x{{6, 11}};
  return {{"narrow", {x, x}, with(0.125)},
          {"narrow, none", {x, x}, with(0.375, "none")},
          {"wide", {x, x}, with(7)},
          {"infinite", {x, x}, with(INFINITY)}};
}

std::vector<RefusedCall> more_refused_calls() {
  const TestInput x{{2}};
  std::vector<RefusedCall> list;
  for (double delta : {0., -1., -double(INFINITY), double(NAN)})
    list.push_back(refuses<ValueError>({x, x}, {"huber_loss", fmt::format("delta {}", delta)}, with(delta)));
  return list;
}

/// A term is at most 8 times the largest operand for differences and δ up to 4.
const ElementwiseLoss kLoss{.name = "huber_loss",
                            .summary = "loss = Σ h(d) / n, d = x - target, h(d) = d²/2 or δ·(|d| - δ/2)",
                            .term = term,
                            .numbers =
                                [](const Attributes& a) {
                                  return std::vector{delta_of(a), 0.5};
                                },
                            .reference = reference,
                            .gradient = gradient,
                            .options = &schema_of<HuberLossOptions>(),
                            .loss_options = loss_options_of<HuberLossOptions>,
                            .check = check,
                            .roundings = 24,
                            .more_cases = more_cases,
                            .more_refused_calls = more_refused_calls};

}  // namespace

namespace ops {

void register_huber_loss(Registry& registry) { registry.add(elementwise_loss_op(kLoss)); }

}  // namespace ops

Tensor huber_loss(const Tensor& x, const Tensor& target, double delta, const std::string& reduction) {
  static const Op& op = op_named("huber_loss");
  return apply(op, {x, target}, Attributes::of(HuberLossOptions{{reduction}, delta}))[0];
}

Tensor smooth_l1_loss(const Tensor& x, const Tensor& target, double beta, const std::string& reduction) {
  require<ValueError>(beta >= 0, "smooth_l1_loss: beta {} is negative or not a number", beta);
  return beta == 0 ? l1_loss(x, target, reduction) : huber_loss(x, target, beta, reduction) / beta;
}

}  // namespace treadle
