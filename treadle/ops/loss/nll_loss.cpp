#include "treadle/ops/loss/nll_loss.h"

#include <algorithm>
#include <cmath>

#include "treadle/graph/cost.h"
#include "treadle/graph/registry.h"
#include "treadle/ops/layout/views.h"
#include "treadle/ops/loss/class_body.h"
#include "treadle/ops/loss/declaration/class_labels.h"
#include "treadle/ops/loss/loss_shape.h"
#include "treadle/ops/pointwise/pointwise_chain.h"

namespace treadle {
namespace {

const NllLossOptions& options_of(const Attributes& attributes) { return attributes.as<NllLossOptions>(); }
LossOptions reduction_of(const Attributes& attributes) { return {options_of(attributes).reduction}; }

/// The loss, and the sum of the samples' weights.
std::vector<TensorSpec> infer(Specs inputs, const Attributes& attributes) {
  check_labels("nll_loss", inputs[0], inputs[1]);
  check_classes("nll_loss", inputs[0].shape);
  if (inputs.size() > 2) check_class_weight("nll_loss", inputs[0], inputs[2]);
  const Shape shape = loss_shape("nll_loss", inputs[1].shape, reduction_of(attributes));
  return {TensorSpec::of(shape, inputs[0].dtype), TensorSpec::of({}, inputs[0].dtype)};
}

std::vector<ReferenceTensor> reference(ReferenceInputs inputs, const Attributes& attributes) {
  const int64_t classes = inputs[0].shape[1];
  ReferenceTensor terms = ReferenceTensor::zeros(inputs[1].shape), total = ReferenceTensor::zeros({});
  for (size_t n = 0; n < terms.values.size(); ++n) {
    const int64_t label = int64_t(inputs[1].values[n]);
    if (label == options_of(attributes).ignore_index) continue;
    const double weight = inputs.size() > 2 && inputs[2].defined ? inputs[2].values[size_t(label)] : 1;
    terms.values[n] = -weight * inputs[0].values[n * size_t(classes) + size_t(label)];
    total.values[0] += weight;
  }
  LossOptions reduction = reduction_of(attributes);
  const bool mean = reduction.reduction == "mean";
  if (mean) reduction.reduction = "sum";
  ReferenceTensor loss = reduce_loss(terms, reduction);
  if (mean) loss.values[0] /= total.values[0];
  return {loss, total};
}

void compose(const Composition& call) {
  static const Attributes product = Attributes::of(PointwiseChain::parse("mul(x0, x1); neg(t0)")),
                          over_all = Attributes::of(ReduceOptions{});
  const TensorView &x = call.input(0), &loss = call.output();
  const DType dtype = wide_dtype(x.dtype);
  const int64_t ignored = options_of(call.attributes()).ignore_index;
  const TensorView weights = weights_of_samples(call, ignored, dtype),
                   terms = call.scratch({x.shape[0]}, dtype), sum = call.scratch({}, dtype),
                   total = call.scratch({}, dtype);
  call.run(pointwise_chain_op(), {picked(call, x, ignored, dtype), weights}, {terms}, product);
  call.run(sum_op(), {weights}, {total}, over_all);
  convert(call, total, call.output(1));
  const LossOptions reduction = reduction_of(call.attributes());
  if (reduction.reduction != "mean") return reduce_terms(call, terms, reduction);
  call.run(sum_op(), {terms}, {sum}, over_all);
  call.run(div_op(), {sum, total}, {sum});
  convert(call, sum, loss);
}

/// dx[n, labels[n]] = -w·dloss, divided by the sum of the weights for the mean.
std::vector<Tensor> gradient(const GradientContext& context) {
  const auto& options = context.options<NllLossOptions>();
  const int64_t classes = context.input_spec(0).shape[1];
  const Tensor labels = context.input(1), dloss = context.upstream();
  if (!context.needs(0) || !dloss.defined()) return std::vector<Tensor>(3);
  Tensor share = weights_of_samples(context.input(2), labels, dloss, classes, options.ignore_index);
  if (options.reduction == "mean") share = share / context.output(1);
  return {pick_gradient(neg(share) * dloss, labels, classes, options.ignore_index), Tensor(), Tensor()};
}

/// As many roundings as samples are added, of terms that are at most twice the largest operand in the cases;
/// the same for the weights of the mean.
ErrorModel error(Specs inputs, const Attributes& attributes) {
  const double samples = double(inputs[0].shape[0]);
  const double terms = options_of(attributes).reduction == "sum" ? std::max(1., samples) : 1;
  return {ErrorModel::largest_input, 4 * (2 * samples + 4) * terms};
}

std::vector<TestCase> cases() {
  auto one = [](const char* label, int64_t samples, int64_t classes, const char* reduction, bool weighted,
                int64_t ignore_index = -100, DType labels = DType::i64,
                TestLayout layout = TestLayout::contiguous) {
    TestInput weight{.shape = {classes}, .fill = {TestFill::apart, 0.5, 2}, .differentiable = false};
    weight.defined = weighted;
    return TestCase{label,
                    {{{samples, classes}, {TestFill::apart, -4, 0}, layout},
                     labels_input(samples, classes, labels),
                     weight},
                    Attributes::of(NllLossOptions{reduction, ignore_index})};
  };
  return {one("mean", 32, 10, "mean", false),
          one("sum", 7, 5, "sum", false),
          one("none", 5, 11, "none", false),
          one("weighted mean", 17, 6, "mean", true),
          one("weighted sum", 17, 6, "sum", true),
          one("weighted", 17, 6, "none", true),
          one("ignored, mean", 29, 4, "mean", false, 2),
          one("ignored, weighted mean", 29, 4, "mean", true, 0),
          one("ignored", 29, 4, "none", true, 3, DType::i32),
          one("transposed", 9, 12, "mean", true, -100, DType::i64, TestLayout::transposed),
          one("sliced", 4, 35, "none", false, -100, DType::i32, TestLayout::sliced),
          one("many samples", 1027, 3, "mean", true),
          one("no samples, sum", 0, 4, "sum", false),
          one("no samples, none", 0, 4, "none", true)};
}

std::vector<RefusedCall> refused_calls() {
  auto list = refused_labels();
  for (RefusedCall& more : refused_class_weights()) list.push_back(std::move(more));
  list.push_back(refuses<ValueError>({{{2, 3}}, labels_input(2, 3)}, {"nll_loss", "'median'"},
                                     Attributes::of(NllLossOptions{"median"})));
  return list;
}

}  // namespace

namespace ops {

void register_nll_loss(Registry& registry) {
  registry.add({.name = "nll_loss",
                .summary = "loss_n = -weight[labels[n]]·x[n, labels[n]]; also the sum of these weights",
                .options = &schema_of<NllLossOptions>(),
                .autocast = AutocastPolicy::full,
                .optional = {2},
                .infer = infer,
                .reference = reference,
                .gradient = gradient,
                .saves = {{Saved::input, 1}, {Saved::input, 2}, {Saved::output, 1}},
                .not_differentiable = {1},
                .compose = compose,
                .cases = cases,
                .refused_calls = refused_calls,
                .error = error,
                .operations = [](const Call& call) { return 4 * double(call.input(0).shape[0]); }});
}

}  // namespace ops

Tensor nll_loss(const Tensor& x, const Tensor& labels, const Tensor& weight, const NllLossOptions& options) {
  static const Op& op = op_named("nll_loss");
  return apply(op, {x, labels, weight}, Attributes::of(options))[0];
}

}  // namespace treadle
