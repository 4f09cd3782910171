#include "treadle/ops/loss/pick.h"

#include "treadle/graph/cost.h"
#include "treadle/graph/registry.h"
#include "treadle/ops/layout/cast.h"
#include "treadle/ops/loss/declaration/class_labels.h"
#include "treadle/ops/loss/pick_options.h"
#include "treadle/ops/pointwise/pointwise.h"
#include "treadle/ops/reduce/reduce.h"
#include "treadle/ops/reduce/reduce_options.h"

namespace treadle {
namespace {

std::vector<TensorSpec> infer(Specs inputs, const Attributes&) {
  check_labels("pick", inputs[0], inputs[1]);
  check_classes("pick", inputs[0].shape);
  return {TensorSpec::of(inputs[1].shape, inputs[0].dtype)};
}

std::vector<ReferenceTensor> reference(ReferenceInputs inputs, const Attributes& attributes) {
  const int64_t classes = inputs[0].shape[1];
  ReferenceTensor y = ReferenceTensor::zeros(inputs[1].shape);
  for (size_t n = 0; n < y.values.size(); ++n) {
    const int64_t label = int64_t(inputs[1].values[n]);
    if (label != attributes.as<PickOptions>().ignore_index)
      y.values[n] = inputs[0].values[n * size_t(classes) + size_t(label)];
  }
  return {y};
}

std::vector<Tensor> gradient(const GradientContext& context) {
  return {pick_gradient(context.upstream(), context.input(1), context.input_spec(0).shape[1],
                        context.options<PickOptions>().ignore_index),
          Tensor()};
}

std::vector<TestCase> cases() {
  auto one = [](const char* label, int64_t samples, int64_t classes, int64_t ignore_index = -100,
                DType labels = DType::i64, TestLayout layout = TestLayout::contiguous) {
    return TestCase{label,
                    {{{samples, classes}, {}, layout}, labels_input(samples, classes, labels)},
                    Attributes::of(PickOptions{ignore_index})};
  };
  return {one("some", 13, 7),
          one("many samples", 2051, 3),
          one("ignored", 37, 5, 2),
          one("i32 labels", 6, 9, 3, DType::i32),
          one("transposed", 9, 12, -100, DType::i64, TestLayout::transposed),
          one("sliced", 4, 35, -1, DType::i64, TestLayout::sliced),
          one("one class", 3, 1),
          one("no samples", 0, 4)};
}

}  // namespace

namespace ops {

void register_pick(Registry& registry) {
  registry.add({.name = "pick",
                .summary = "y[n] = x[n, labels[n]]; 0 where the label is ignored",
                .options = &schema_of<PickOptions>(),
                .autocast = AutocastPolicy::full,
                .infer = infer,
                .reference = reference,
                .gradient = gradient,
                .saves = {{Saved::input, 1}},
                .cases = cases,
                .refused_calls = refused_labels,
                .operations = no_operations()});
}

}  // namespace ops

const Op& pick_op() {
  static const Op& op = op_named("pick");
  return op;
}

Tensor pick(const Tensor& x, const Tensor& labels, int64_t ignore_index) {
  return apply(pick_op(), {x, labels}, Attributes::of(PickOptions{ignore_index}))[0];
}

/// As that of a maximum of each row at the label's place.
Tensor pick_gradient(const Tensor& dy, const Tensor& labels, int64_t classes, int64_t ignore_index) {
  const Tensor kept = where(equal(labels, ignore_index), 0, dy), positions = cast(labels, DType::i64);
  return apply(extremum_gradient_op(), {kept, positions},
               Attributes::of(ExtremumGradientOptions{{1}, {dy.size(0), classes}}))[0];
}

}  // namespace treadle
