#include "treadle/ops/norm/fold_batch_norm.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "treadle/core/error.h"
#include "treadle/graph/cost.h"
#include "treadle/graph/registry.h"
#include "treadle/ops/conv2d/conv2d.h"
#include "treadle/ops/conv2d/conv2d_relu.h"
#include "treadle/ops/norm/batch_norm.h"
#include "treadle/ops/norm/channel_steps.h"
#include "treadle/ops/norm/declaration/batch_norm_cases.h"
#include "treadle/ops/norm/normalized_rows.h"

namespace treadle {
namespace {

enum Operand { kFilters, kB, kMean, kVariance, kWeight, kBias };
const char* const kName = "fold_batch_norm";

std::vector<TensorSpec> infer(Specs inputs, const Attributes& attributes) {
  require_same_dtype(kName, inputs);
  require_epsilon(kName, attributes.as<FoldBatchNormOptions>().epsilon);
  const Shape& w = inputs[kFilters].shape;
  require<ShapeError>(w.rank() > 0, "{}: w has no axis", kName);
  (void)inputs[kVariance];  // the first four may not be missing
  const char* const names[] = {"w", "b", "mean", "variance", "weight", "bias"};
  for (size_t i = kB; i < inputs.size(); ++i)
    require<ShapeError>(!inputs[i].defined || inputs[i].shape == Shape{w[0]},
                        "{}: {} has shape {}, w {} expects [{}]", kName, names[i], inputs[i].shape, w, w[0]);
  return {TensorSpec::of(w, inputs[kFilters].dtype), TensorSpec::of({w[0]}, inputs[kFilters].dtype)};
}

std::vector<ReferenceTensor> reference(ReferenceInputs inputs, const Attributes& attributes) {
  const double epsilon = attributes.as<FoldBatchNormOptions>().epsilon;
  ReferenceTensor w = inputs[kFilters], b = ReferenceTensor::zeros({w.shape[0]});
  const size_t K = b.values.size(), length = K ? w.values.size() / K : 0;
  for (size_t k = 0; k < K; ++k) {
    const double scale = value_of(inputs, kWeight, k, 1) / std::sqrt(inputs[kVariance].values[k] + epsilon);
    for (size_t i = 0; i < length; ++i) w.values[k * length + i] *= scale;
    b.values[k] =
        (value_of(inputs, kB, k, 0) - inputs[kMean].values[k]) * scale + value_of(inputs, kBias, k, 0);
  }
  return {w, b};
}

/// [K] as it broadcasts along w [K, …].
TensorView along_filters(TensorView view, const Shape& w) {
  const int64_t stride = view.strides[0];
  view.shape = Dims::filled(w.rank(), 1);
  view.shape[0] = w[0];
  view.strides = contiguous_strides(view.shape);
  view.strides[0] = stride;
  return view;
}

void compose(const Composition& call) {
  const TensorView& w = call.output(0);
  const Shape channels{1, w.shape[0]};
  const ChannelSteps steps(call, channels, wide_dtype(w.dtype));
  const TensorView filters = steps.exact_target(w), b = steps.exact_target(call.output(1)),
                   scale =
                       steps.deviation(steps.exact(kVariance), call.options<FoldBatchNormOptions>().epsilon);
  call.run(div_op(), {call.has_input(kWeight) ? steps.exact(kWeight) : steps.number(1), scale}, {scale});
  call.run(mul_op(), {steps.exact(kFilters), along_filters(scale, w.shape)}, {filters});
  call.run(sub_op(), {call.has_input(kB) ? steps.exact(kB) : steps.number(0), steps.exact(kMean)}, {b});
  call.run(mul_op(), {b, scale}, {b});
  if (call.has_input(kBias)) call.run(add_op(), {b, steps.exact(kBias)}, {b});
  steps.deliver(filters, w);
  steps.deliver(b, call.output(1));
}

std::vector<TestCase> cases() {
  auto one = [](const char* label, const Shape& w, double epsilon = 1e-5,
                TestLayout layout = TestLayout::contiguous) {
    return TestCase{
        label,
        {{w, {}, layout}, {{w[0]}}, {{w[0]}}, {{w[0]}, {TestFill::uniform, 1, 2}}, {{w[0]}}, {{w[0]}}},
        Attributes::of(FoldBatchNormOptions{epsilon})};
  };
  auto without = [](TestCase test_case, std::initializer_list<int> operands) {
    for (int i : operands) test_case.inputs[size_t(i)].defined = false;
    return test_case;
  };
  return {one("filters", {7, 3, 3, 5}),
          one("matrix", {5, 19}, 0.5),
          one("vector", {6}),
          one("channels_last", {4, 6, 3, 3}, 1e-5, TestLayout::channels_last),
          one("sliced", {6, 3, 2, 5}, 1e-5, TestLayout::sliced),
          without(one("no bias of the convolution", {7, 3, 3, 5}), {kB}),
          without(one("not affine", {7, 3, 3, 5}), {kWeight, kBias}),
          without(one("statistics alone", {7, 3, 3, 5}), {kB, kWeight, kBias}),
          one("no filters", {0, 3, 3, 5})};
}

std::vector<RefusedCall> refused_calls() {
  const TestInput w{{6, 2}}, c{{6}}, two{{2}}, scalar{{}}, exact{.shape = {6}, .dtype = {DType::f64}};
  return {refuses<ValueError>({w, c, c, c}, {"epsilon", "-1"}, Attributes::of(FoldBatchNormOptions{-1})),
          refuses<ShapeError>({w, two, c, c}, {"b has shape [2]", "[6, 2]", "[6]"}),
          refuses<ShapeError>({w, c, two, c}, {"mean has shape [2]", "[6]"}),
          refuses<ShapeError>({w, c, c, two}, {"variance has shape [2]", "[6]"}),
          refuses<ShapeError>({w, c, c, c, two}, {"weight has shape [2]", "[6]"}),
          refuses<ShapeError>({w, c, c, c, c, two}, {"bias has shape [2]", "[6]"}),
          refuses<ShapeError>({scalar, c, c, c}, {"no axis"}),
          refuses<DTypeError>({w, c, c, exact}, {kName, "f32", "f64"})};
}

ErrorModel error(Specs, const Attributes&) { return {ErrorModel::largest_input, 32}; }

/// Where the convolution step `at` meets batch normalisation by statistics that are there before, as filters
/// are, its filters and bias take them in. A residual stays a sum of its own.
class Folding {
 public:
  Folding(StepGraph& graph, size_t at) : graph_(graph), conv_(graph[at]), at_(at) {}

  std::optional<std::string> fold() {
    const int64_t norm_at = graph_.sole_reader_of(at_);
    if (norm_at < 0 || graph_[size_t(norm_at)].op != &batch_norm_inference_op()) return {};
    norm_ = graph_[size_t(norm_at)];
    if (norm_.inputs[0] != conv_.outputs[0] || !alike(conv_.outputs[0], norm_.outputs[0]) || !all_fixed())
      return {};
    const Step folded{&fold_batch_norm_op(),
                      Attributes::of(FoldBatchNormOptions{options().epsilon}),
                      {operand(conv_, 1), operand(conv_, 2), norm_.inputs[1], norm_.inputs[2],
                       operand(norm_, 3), operand(norm_, 4)},
                      {result_like(conv_.inputs[1]), result_like(norm_.inputs[1])}};
    conv_.inputs = {conv_.inputs[0], folded.outputs[0], folded.outputs[1]};
    replace_norm(size_t(norm_at));
    graph_.replace(at_, conv_);
    graph_.insert(at_, folded);
    return "conv2d + batch_norm_inference → conv2d";
  }

 private:
  static int operand(const Step& step, size_t i) {
    return i < step.inputs.size() ? step.inputs[i] : kNoValue;
  }
  const BatchNormOptions& options() const { return norm_.attributes.as<BatchNormOptions>(); }
  int residual() const { return operand(norm_, 5); }

  bool alike(int a, int b) const {
    const TensorSpec &x = graph_.spec(a), &y = graph_.spec(b);
    return x.shape == y.shape && x.strides == y.strides && x.dtype == y.dtype && size_of(x.dtype) > 2;
  }

  /// Whether nobody in the program makes or writes what is folded.
  bool all_fixed() const {
    std::vector<int> values{operand(conv_, 1), operand(conv_, 2)};
    for (size_t i = 1; i < 5; ++i) values.push_back(operand(norm_, i));
    return std::all_of(values.begin(), values.end(), [&](int value) {
      return value == kNoValue ||
             (graph_.memory_of(value).is_fixed() && graph_.last_write(value, graph_.size()) < 0);
    });
  }

  int result(const TensorSpec& spec) {
    GraphBuffer buffer;
    buffer.bytes = size_t(spec.shape.numel()) * size_of(spec.dtype);
    buffer.device = graph_.device_of(conv_.outputs[0]);
    return graph_.add_value({graph_.add_buffer(std::move(buffer)), 0, spec});
  }
  int result_like(int value) {
    const TensorSpec& spec = graph_.spec(value);
    return result(TensorSpec::of(spec.shape, spec.dtype));
  }

  /// What is left of it: nothing, ReLU, or the sum with the residual and then ReLU.
  void replace_norm(size_t norm_at) {
    if (residual() == kNoValue) {
      conv_.outputs[0] = norm_.outputs[0];
      if (options().relu) conv_.op = &conv2d_relu_op();
      return graph_.erase(norm_at);
    }
    Step sum{&add_op(), {}, {conv_.outputs[0], residual()}, norm_.outputs};
    if (options().relu) {
      sum.outputs = {result(graph_.spec(norm_.outputs[0]))};
      graph_.insert(norm_at + 1, {&relu_op(), {}, sum.outputs, norm_.outputs});
    }
    graph_.replace(norm_at, sum);
  }

  StepGraph& graph_;
  Step conv_, norm_;
  size_t at_;
};

}  // namespace

namespace ops {

void register_fold_batch_norm(Registry& registry) {
  registry.add({.name = kName,
                .summary = "filters w·s and bias (b - mean)·s + bias, s = weight / √(variance + ε)",
                .options = &schema_of<FoldBatchNormOptions>(),
                .optional = {kB, kWeight, kBias},
                .infer = infer,
                .reference = reference,
                .compose = compose,
                .cases = cases,
                .refused_calls = refused_calls,
                .error = error,
                .operations = for_each_output(2)});
  registry.add_fusion(StepFusion{{conv2d_op, batch_norm_inference_op},
                                 [](StepGraph& graph, size_t at) { return Folding(graph, at).fold(); }});
}

}  // namespace ops

const Op& fold_batch_norm_op() {
  static const Op& op = op_named(kName);
  return op;
}

}  // namespace treadle
