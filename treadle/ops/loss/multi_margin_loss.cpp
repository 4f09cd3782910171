#include "treadle/ops/loss/multi_margin_loss.h"

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

constexpr int64_t kNoneIgnored = -100;

const MultiMarginLossOptions& options_of(const Attributes& attributes) {
  return attributes.as<MultiMarginLossOptions>();
}
LossOptions reduction_of(const Attributes& attributes) { return {options_of(attributes).reduction}; }

std::vector<TensorSpec> infer(Specs inputs, const Attributes& attributes) {
  const char* op = "multi_margin_loss";
  const auto& options = options_of(attributes);
  require<ValueError>(options.p == 1 || options.p == 2, "{}: p is {}, not 1 or 2", op, options.p);
  require<ValueError>(std::isfinite(options.margin), "{}: the margin {} is not finite", op, options.margin);
  check_labels(op, inputs[0], inputs[1]);
  check_classes(op, inputs[0].shape);
  if (inputs.size() > 2) check_class_weight(op, inputs[0], inputs[2]);
  return {TensorSpec::of(loss_shape(op, inputs[1].shape, reduction_of(attributes)), inputs[0].dtype)};
}

std::vector<ReferenceTensor> reference(ReferenceInputs inputs, const Attributes& attributes) {
  const int64_t classes = inputs[0].shape[1];
  const auto& options = options_of(attributes);
  ReferenceTensor terms = ReferenceTensor::zeros(inputs[1].shape);
  for (size_t n = 0; n < terms.values.size(); ++n) {
    const int64_t label = int64_t(inputs[1].values[n]);
    const double *row = &inputs[0].values[n * size_t(classes)],
                 weight = inputs.size() > 2 && inputs[2].defined ? inputs[2].values[size_t(label)] : 1;
    for (int64_t c = 0; c < classes; ++c) {
      const double distance = options.margin - row[label] + row[c];
      if (c != label && distance > 0)
        terms.values[n] += weight * std::pow(distance, double(options.p)) / double(classes);
    }
  }
  return {reduce_loss(terms, reduction_of(attributes))};
}

/// The distances of all classes to the power of p; x2 is the margin.
const Attributes& distances(int64_t p) {
  static const Attributes plain = Attributes::of(PointwiseChain::parse("sub(x0, x1); add(t0, x2); relu(t1)")),
                          squared = Attributes::of(
                              PointwiseChain::parse("sub(x0, x1); add(t0, x2); relu(t1); mul(t2, t2)"));
  return p == 1 ? plain : squared;
}

/// Sums over all classes, less what the label's own class gives.
void compose(const Composition& call) {
  static const Attributes over_classes = Attributes::of(ReduceOptions{{1}}),
                          weighted =
                              Attributes::of(PointwiseChain::parse("sub(x0, x1); mul(t0, x2); mul(t1, x3)"));
  const auto& options = options_of(call.attributes());
  const TensorView& x = call.input(0);
  const DType dtype = wide_dtype(x.dtype);
  const int64_t samples = x.shape[0], classes = x.shape[1];
  TensorView of_label = picked(call, x, kNoneIgnored, dtype);
  of_label.shape = {samples, 1}, of_label.strides = {1, 1};
  const TensorView powers = scratch_like(call, x, dtype), terms = call.scratch({samples}, dtype);
  call.run(pointwise_chain_op(), {as_dtype(call, x, dtype), of_label, number(call, options.margin, dtype)},
           {powers}, distances(options.p));
  call.run(sum_op(), {powers}, {terms}, over_classes);
  const double own = std::pow(std::max(0., options.margin), double(options.p));
  call.run(pointwise_chain_op(),
           {terms, number(call, own, dtype), weights_of_samples(call, kNoneIgnored, dtype),
            number(call, 1 / double(classes), dtype)},
           {terms}, weighted);
  reduce_terms(call, terms, reduction_of(call.attributes()));
}

/// A class that is too near pulls by p·distance^(p-1)·g, g = w·dloss / C, divided by N for the mean, and the
/// label's class by as much in the other direction.
std::vector<Tensor> gradient(const GradientContext& context) {
  if (!context.needs(0)) return std::vector<Tensor>(3);
  const auto& options = context.options<MultiMarginLossOptions>();
  const Tensor x = context.input(0), labels = context.input(1), dloss = context.upstream();
  const int64_t samples = x.size(0), classes = x.size(1);
  const double divisor = double(classes) * LossOptions{options.reduction}.divisor(samples);
  const Tensor g = weights_of_samples(context.input(2), labels, x, classes, kNoneIgnored) *
                   (dloss * (double(options.p) / divisor));
  const Tensor distance = relu(x - unsqueeze(pick(x, labels), 1) + options.margin);
  Tensor pull = apply(relu_gradient_op(), {distance, expand(unsqueeze(g, 1), x.shape())})[0];
  if (options.p == 2) pull = pull * distance;
  return {pull - pick_gradient(sum(pull, {1}), labels, classes), Tensor(), Tensor()};
}

/// A term is at most 25 times a weight of 2 for distances up to 5, of sums over C classes and N samples.
ErrorModel error(Specs inputs, const Attributes& attributes) {
  const double samples = double(inputs[0].shape[0]), classes = double(inputs[0].shape[1]);
  const double terms = options_of(attributes).reduction == "sum" ? std::max(1., samples) : 1;
  return {ErrorModel::largest_input, 25 * (classes + samples + 8) * terms};
}

/// No margin is a multiple of the distance of two elements, where the function bends.
std::vector<TestCase> cases() {
  auto one = [](const char* label, int64_t samples, int64_t classes, const MultiMarginLossOptions& options,
                bool weighted = false, DType labels = DType::i64,
                TestLayout layout = TestLayout::contiguous) {
    TestInput weight{.shape = {classes}, .fill = {TestFill::apart, 0.5, 2}, .differentiable = false};
    weight.defined = weighted;
    return TestCase{label,
                    {{{samples, classes}, {}, layout}, labels_input(samples, classes, labels), weight},
                    Attributes::of(options)};
  };
  return {one("mean", 32, 10, {.margin = 0.97}),
          one("sum", 7, 5, {.margin = 0.97, .reduction = "sum"}),
          one("none", 5, 11, {.margin = 0.97, .reduction = "none"}),
          one("squared", 9, 6, {.p = 2}, true),
          one("squared, none", 9, 6, {.p = 2, .margin = 0.53, .reduction = "none"}, true, DType::i32),
          one("negative margin", 13, 7, {.p = 2, .margin = -0.25, .reduction = "sum"}),
          one("transposed", 9, 12, {.margin = 0.97}, true, DType::i64, TestLayout::transposed),
          one("sliced", 4, 35, {.margin = 0.97, .reduction = "none"}, false, DType::i32, TestLayout::sliced),
          one("many samples", 1027, 3, {.margin = 0.97}, true),
          one("no samples", 0, 4, {.reduction = "sum"}, true)};
}

std::vector<RefusedCall> refused_calls() {
  auto list = refused_labels();
  for (RefusedCall& more : refused_class_weights()) list.push_back(std::move(more));
  auto refused = [&](const MultiMarginLossOptions& options, const char* what) {
    list.push_back(refuses<ValueError>({{{2, 3}}, labels_input(2, 3)}, {"multi_margin_loss", what},
                                       Attributes::of(options)));
  };
  for (int64_t p : {int64_t(0), int64_t(3), int64_t(-1), INT64_MIN}) refused({.p = p}, "p is");
  for (double margin : {double(NAN), double(INFINITY)}) refused({.margin = margin}, "margin");
  refused({.reduction = "median"}, "'median'");
  return list;
}

}  // namespace

namespace ops {

void register_multi_margin_loss(Registry& registry) {
  registry.add({.name = "multi_margin_loss",
                .summary = "loss_n = weight[l]·Σ_c≠l max(0, margin - x[n,l] + x[n,c])^p / C, l = labels[n]",
                .options = &schema_of<MultiMarginLossOptions>(),
                .autocast = AutocastPolicy::full,
                .optional = {2},
                .infer = infer,
                .reference = reference,
                .gradient = gradient,
                .saves = {{Saved::input, 0}, {Saved::input, 1}, {Saved::input, 2}},
                .compose = compose,
                .cases = cases,
                .refused_calls = refused_calls,
                .error = error,
                .operations = for_each_of_input(0, 5)});
}

}  // namespace ops

Tensor multi_margin_loss(const Tensor& x, const Tensor& labels, const Tensor& weight,
                         const MultiMarginLossOptions& options) {
  static const Op& op = op_named("multi_margin_loss");
  return apply(op, {x, labels, weight}, Attributes::of(options))[0];
}

}  // namespace treadle
