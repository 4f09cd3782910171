#include "treadle/ops/loss/cross_entropy.h"

#include <cmath>

#include "treadle/core/error.h"
#include "treadle/graph/cost.h"
#include "treadle/graph/registry.h"
#include "treadle/graph/require_defined.h"
#include "treadle/ops/layout/views.h"
#include "treadle/ops/loss/class_body.h"
#include "treadle/ops/loss/declaration/class_labels.h"
#include "treadle/ops/loss/loss_options.h"
#include "treadle/ops/loss/loss_shape.h"
#include "treadle/ops/loss/nll_loss.h"
#include "treadle/ops/loss/pick.h"
#include "treadle/ops/pointwise/pointwise.h"
#include "treadle/ops/reduce/reduce.h"
#include "treadle/ops/softmax/softmax.h"

namespace treadle {
namespace {

/// The loss, and the softmax of x for the gradient, or the gradient itself.
std::vector<TensorSpec> infer(Specs inputs, const Attributes& attributes) {
  check_labels("cross_entropy", inputs[0], inputs[1]);
  check_classes("cross_entropy", inputs[0].shape);
  return {TensorSpec::of(loss_shape("cross_entropy", inputs[1].shape, attributes.as<LossOptions>()),
                         inputs[0].dtype),
          TensorSpec::of(inputs[0].shape, inputs[0].dtype)};
}

std::vector<TensorSpec> infer_gradient(Specs inputs, const Attributes& attributes) {
  const char* op = "cross_entropy_gradient";
  check_labels(op, inputs[0], inputs[1]);
  const Shape wanted = loss_shape(op, inputs[1].shape, attributes.as<LossOptions>());
  require<ShapeError>(inputs[2].shape == wanted, "{}: dloss has shape {}, expected {}", op, inputs[2].shape,
                      wanted);
  require<DTypeError>(inputs[2].dtype == inputs[0].dtype, "{}: probabilities are {} and dloss {}", op,
                      name_of(inputs[0].dtype), name_of(inputs[2].dtype));
  return {TensorSpec::of(inputs[0].shape, inputs[0].dtype)};
}

std::vector<ReferenceTensor> reference(ReferenceInputs inputs, const Attributes& attributes) {
  const int64_t samples = inputs[0].shape[0], classes = inputs[0].shape[1];
  ReferenceTensor losses = ReferenceTensor::zeros({samples}), probabilities = inputs[0];
  for (int64_t n = 0; n < samples; ++n) {
    double *row = &probabilities.values[n * classes], largest = row[0], sum = 0;
    for (int64_t c = 0; c < classes; ++c) largest = std::max(largest, row[c]);
    for (int64_t c = 0; c < classes; ++c) sum += std::exp(row[c] - largest);
    losses.values[n] = std::log(sum) + largest - row[int64_t(inputs[1].values[n])];
    for (int64_t c = 0; c < classes; ++c) row[c] = std::exp(row[c] - largest) / sum;
  }
  return {reduce_loss(losses, attributes.as<LossOptions>()), probabilities};
}

std::vector<ReferenceTensor> gradient_reference(ReferenceInputs inputs, const Attributes& attributes) {
  const int64_t samples = inputs[0].shape[0], classes = inputs[0].shape[1];
  const auto& options = attributes.as<LossOptions>();
  ReferenceTensor dx = inputs[0];
  for (int64_t i = 0; i < samples * classes; ++i) {
    const int64_t n = i / classes;
    if (i % classes == int64_t(inputs[1].values[n])) dx.values[i] -= 1;
    dx.values[i] *= inputs[2].values[options.keeps_terms() ? n : 0] / options.divisor(samples);
  }
  return {dx};
}

/// The probabilities, with the gradient of the loss, or of the sum of all losses, in their place.
std::vector<ReferenceTensor> reference_with_gradient(ReferenceInputs inputs, const Attributes& attributes) {
  auto outputs = reference(inputs, attributes);
  const int64_t samples = inputs[0].shape[0], classes = inputs[0].shape[1];
  auto& dx = outputs[1].values;
  for (int64_t n = 0; n < samples; ++n) dx[n * classes + int64_t(inputs[1].values[n])] -= 1;
  for (double& value : dx) value /= attributes.as<LossOptions>().divisor(samples);
  return outputs;
}

std::vector<Tensor> gradient(const GradientContext& context) {
  static const Op& op = op_named("cross_entropy_gradient");
  if (!context.needs(0)) return {Tensor(), Tensor()};
  const Tensor probabilities = context.output(1), dloss = context.upstream(0), dp = context.upstream(1);
  Tensor dx;
  if (dloss.defined()) dx = apply(op, {probabilities, context.input(1), dloss}, context.attributes())[0];
  if (dp.defined()) {
    const Tensor of_p = softmax_gradient(probabilities, dp);
    dx = dx.defined() ? dx + of_p : of_p;
  }
  return {dx, Tensor()};
}

/// With U for dx: those of the probabilities are U·dloss, that of each loss Σ_c U·probabilities - U[label].
std::vector<Tensor> gradient_of_gradient(const GradientContext& context) {
  const Shape& shape = context.input_spec(0).shape;
  const bool of_each = context.input_spec(2).shape.rank() > 0;
  const double share = 1 / context.options<LossOptions>().divisor(shape[0]);
  const Tensor U = share == 1 ? context.upstream() : context.upstream() * share;
  std::vector<Tensor> result(3);
  if (context.needs(0)) result[0] = U * (of_each ? unsqueeze(context.input(2), 1) : context.input(2));
  if (context.needs(2)) {
    const Tensor losses = sum(U * context.input(0), {1}) - pick(U, context.input(1));
    result[2] = of_each ? losses : sum(losses);
  }
  return result;
}

/// A sample's loss is at most 2·largest + log C, with C roundings in its sum; N more are added for the batch.
ErrorModel error(Specs inputs, const Attributes& attributes) {
  const double samples = double(inputs[0].shape[0]), classes = double(inputs[0].shape[1]);
  const double losses = attributes.as<LossOptions>().reduction == "sum" ? samples : 1;
  return {ErrorModel::largest_input, (classes + samples + 8) * 4 * std::max(1., losses)};
}

ErrorModel gradient_error(Specs, const Attributes&) { return {ErrorModel::largest_input, 6}; }

struct LossCase {
  const char* label;
  int64_t samples, classes;
  const char* reduction;
  DType labels = DType::i64;
  TestLayout layout = TestLayout::contiguous;
};

std::vector<LossCase> loss_cases() {
  return {{"mean", 32, 10, "mean"},
          {"sum", 7, 5, "sum"},
          {"none", 5, 11, "none"},
          {"i32 labels", 6, 9, "mean", DType::i32},
          {"transposed", 9, 12, "mean", DType::i64, TestLayout::transposed},
          {"sliced", 4, 35, "none", DType::i64, TestLayout::sliced},
          {"many samples", 1027, 3, "mean"},
          {"many classes", 2, 1001, "mean"},
          {"one class", 3, 1, "none"},
          {"one sample", 1, 10, "mean"},
          {"no samples, sum", 0, 4, "sum"},
          {"no samples, none", 0, 4, "none"}};
}

TestInput labels_of(const LossCase& one) { return labels_input(one.samples, one.classes, one.labels); }

/// With one class the loss is 0 whatever x is, which finite differences cannot tell from a missing gradient.
std::vector<TestCase> cases() {
  std::vector<TestCase> list;
  for (const LossCase& one : loss_cases()) {
    TestInput x{{one.samples, one.classes}, {}, one.layout};
    x.differentiable = one.classes > 1;
    list.push_back({one.label, {x, labels_of(one)}, Attributes::of(LossOptions{one.reduction})});
  }
  return list;
}

std::vector<RefusedCall> refused_calls() {
  auto list = refused_labels();
  list.push_back(refuses<ValueError>({{{2, 3}}, labels_input(2, 3)}, {"'median'", "mean sum none"},
                                     Attributes::of(LossOptions{"median"})));
  return list;
}

std::vector<TestCase> gradient_cases() {
  std::vector<TestCase> list;
  for (const LossCase& one : loss_cases()) {
    TestInput probabilities{{one.samples, one.classes}, {TestFill::apart, 0, 1}, one.layout};
    const Shape upstream = std::string(one.reduction) == "none" ? Shape{one.samples} : Shape{};
    list.push_back(
        {one.label, {probabilities, labels_of(one), {upstream}}, Attributes::of(LossOptions{one.reduction})});
  }
  return list;
}

}  // namespace

namespace ops {

void register_cross_entropy(Registry& registry) {
  registry.add({.name = "cross_entropy",
                .summary = "loss_n = log Σ_c e^x[n,c] - x[n, labels[n]]; also the softmax of x",
                .options = &schema_of<LossOptions>(),
                .autocast = AutocastPolicy::full,
                .infer = infer,
                .reference = reference,
                .gradient = gradient,
                .saves = {{Saved::output, 1}, {Saved::input, 1}},
                .cases = cases,
                .refused_calls = refused_calls,
                .error = error,
                .operations = for_each_of_input(0, 5)});
  registry.add({.name = "cross_entropy_with_gradient",
                .summary = "the loss of cross_entropy, and its gradient dx for an upstream gradient of 1",
                .options = &schema_of<LossOptions>(),
                .infer = infer,
                .reference = reference_with_gradient,
                .cases = cases,
                .refused_calls = refused_calls,
                .error = error,
                .operations = for_each_of_input(0, 6)});
  registry.add(
      {.name = "cross_entropy_gradient",
       .summary = "dx[n,c] = (probabilities[n,c] - [c = labels[n]])·dloss, divided by N for the mean",
       .options = &schema_of<LossOptions>(),
       .infer = infer_gradient,
       .reference = gradient_reference,
       .gradient = gradient_of_gradient,
       .saves = {{Saved::input, 0}, {Saved::input, 1}, {Saved::input, 2}},
       .cases = gradient_cases,
       .error = gradient_error,
       .operations = for_each_output(2)});
}

}  // namespace ops

Tensor cross_entropy(const Tensor& x, const Tensor& labels, const std::string& reduction) {
  static const Op& op = op_named("cross_entropy");
  if (labels.defined() && is_floating(labels.dtype()))
    return cross_entropy(x, labels, CrossEntropyOptions{.reduction = reduction});
  return apply(op, {x, labels}, Attributes::of(LossOptions{reduction}))[0];
}

namespace {

/// Each sample's -Σ_c w[c]·log p[n,c]·q[n,c]; without q, that is of even shares 1.
Tensor of_shares(const Tensor& log_p, const Tensor& weight, const Tensor& q = {}) {
  const Tensor weighted = weight.defined() ? log_p * weight : log_p;
  return neg(sum(q.defined() ? weighted * q : weighted, {1}));
}

Tensor reduced(const Tensor& terms, const std::string& reduction) {
  return reduction == "none" ? terms : reduction == "sum" ? sum(terms) : mean(terms);
}

Tensor of_probabilities(const Tensor& log_p, const Tensor& q, const Tensor& weight,
                        const CrossEntropyOptions& options) {
  require<ShapeError>(q.shape() == log_p.shape(), "cross_entropy: x has shape {}, probabilities {}",
                      log_p.shape(), q.shape());
  require<DTypeError>(q.dtype() == log_p.dtype(), "cross_entropy: x is {}, probabilities {}",
                      name_of(log_p.dtype()), name_of(q.dtype()));
  const double s = options.label_smoothing;
  const Tensor smoothed = s == 0 ? q : q * (1 - s) + s / double(q.size(1));
  return reduced(of_shares(log_p, weight, smoothed), options.reduction);
}

Tensor of_labels(const Tensor& log_p, const Tensor& labels, const Tensor& weight,
                 const CrossEntropyOptions& options) {
  const double s = options.label_smoothing;
  if (s == 0) return nll_loss(log_p, labels, weight, {options.reduction, options.ignore_index});
  const int64_t classes = log_p.size(1);
  const Tensor of_label = nll_loss(log_p, labels, weight, {"none", options.ignore_index}),
               even = of_shares(log_p, weight), of_all = where(equal(labels, options.ignore_index), 0, even);
  const Tensor terms = of_label * (1 - s) + of_all * (s / double(classes));
  if (options.reduction != "mean") return reduced(terms, options.reduction);
  const Tensor weights = weights_of_samples(weight, labels, log_p, classes, options.ignore_index);
  return sum(terms) / sum(weights);
}

}  // namespace

Tensor cross_entropy(const Tensor& x, const Tensor& target, const CrossEntropyOptions& options,
                     const Tensor& weight) {
  const char* op = "cross_entropy";
  require_defined(op, x, 1);
  require_defined(op, target, 2);
  require<ValueError>(options.label_smoothing >= 0 && options.label_smoothing <= 1,
                      "{}: a label smoothing of {} is outside of [0, 1]", op, options.label_smoothing);
  require<ShapeError>(x.rank() == 2, "{}: x has shape {}, expected [N, C]", op, x.shape());
  check_class_weight(op, TensorSpec::of(x), TensorSpec::of(weight));
  loss_shape(op, {}, {options.reduction});
  const Tensor log_p = log_softmax(x, 1);
  return is_floating(target.dtype()) ? of_probabilities(log_p, target, weight, options)
                                     : of_labels(log_p, target, weight, options);
}

LossWithGradient cross_entropy_with_gradient(const Tensor& x, const Tensor& labels,
                                             const std::string& reduction) {
  static const Op& op = op_named("cross_entropy_with_gradient");
  auto outputs = apply(op, {x, labels}, Attributes::of(LossOptions{reduction}));
  return {outputs[0], outputs[1]};
}

}  // namespace treadle
