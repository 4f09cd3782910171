#include "treadle/ops/loss/kl_div.h"

#include <cmath>

#include "treadle/ops/loss/declaration/elementwise_loss.h"
#include "treadle/ops/pointwise/pointwise.h"
#include "treadle/ops/pointwise/pointwise_chain.h"

namespace treadle {
namespace {

struct KlDivOptions : LossOptions {
  bool log_target = false;
  template <class Field>
  static void describe(Field& field) {
    field("reduction", &KlDivOptions::reduction, "mean, batchmean, sum or none");
    field("log_target", &KlDivOptions::log_target, "whether the target holds logarithms");
  }
};

bool has_log_target(const Attributes& attributes) { return attributes.as<KlDivOptions>().log_target; }

/// Stands for ln 0, so that 0·ln 0 is 0: below the logarithm of every number.
constexpr double kLeastLog = -1000;

const Attributes& term(const Attributes& attributes) {
  static const Attributes plain = Attributes::of(
                              PointwiseChain::parse("log(x1); maximum(t0, x2); sub(t1, x0); mul(t2, x1)")),
                          of_logarithms =
                              Attributes::of(PointwiseChain::parse("exp(x1); sub(x1, x0); mul(t0, t1)"));
  return has_log_target(attributes) ? of_logarithms : plain;
}

std::vector<double> numbers(const Attributes& attributes) {
  if (has_log_target(attributes)) return {};
  return {kLeastLog};
}

double reference(const double* x, const Attributes& attributes) {
  if (has_log_target(attributes)) return std::exp(x[1]) * (x[1] - x[0]);
  return x[1] == 0 ? -x[1] * x[0] : x[1] * (std::log(x[1]) - x[0]);
}

/// dx = -t·g; dt = (ln t - x + 1)·g, times t where the target is ln t.
std::vector<Tensor> gradient(const TermGradient& of) {
  const bool log_target = has_log_target(of.context.attributes());
  const Tensor tg = (log_target ? exp(of.target()) : of.target()) * of.g;
  std::vector<Tensor> gradients{neg(tg), Tensor()};
  if (of.context.needs(1))
    gradients[1] = log_target ? (of.target() - of.x() + 1) * tg : (log(of.target()) - of.x() + 1) * of.g;
  return gradients;
}

Attributes with(const char* reduction, bool log_target) {
  return Attributes::of(KlDivOptions{{reduction}, log_target});
}

std::vector<TestCase> more_cases() {
  const TestInput x{{6, 11}, {TestFill::apart, -4, 0}}, target{{6, 11}, {TestFill::apart, 0.02, 1}};
  TestInput zeros{{6, 11}, {TestFill::integers, 0, 1}};
  zeros.differentiable = false;
  std::vector<TestCase> list{
      {"batchmean", {x, target}, with("batchmean", false)},
      {"batchmean, rank 0", {{{}, x.fill}, {{}, target.fill}}, with("batchmean", false)},
      {"no probability", {x, zeros}, with("none", false)}};
  for (const char* reduction : {"mean", "batchmean", "sum", "none"})
    list.push_back({"logarithms", {x, x}, with(reduction, true)});
  return list;
}

const ElementwiseLoss kLoss{.name = "kl_div",
                            .summary = "loss = Σ target·(ln target - x) / n",
                            .term = term,
                            .numbers = numbers,
                            .reference = reference,
                            .gradient = gradient,
                            .options = &schema_of<KlDivOptions>(),
                            .loss_options = loss_options_of<KlDivOptions>,
                            .knows_batchmean = true,
                            .roundings = 16,
                            .x = {TestFill::apart, -4, 0},
                            .target = {TestFill::apart, 0.02, 1},
                            .more_cases = more_cases};

}  // namespace

namespace ops {

void register_kl_div(Registry& registry) { registry.add(elementwise_loss_op(kLoss)); }

}  // namespace ops

Tensor kl_div(const Tensor& x, const Tensor& target, const std::string& reduction, bool log_target) {
  static const Op& op = op_named("kl_div");
  return apply(op, {x, target}, Attributes::of(KlDivOptions{{reduction}, log_target}))[0];
}

}  // namespace treadle
