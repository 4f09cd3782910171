#include "treadle/ops/layout/concat.h"

#include <algorithm>

#include "treadle/core/error.h"
#include "treadle/graph/cost.h"
#include "treadle/graph/registry.h"
#include "treadle/ops/layout/concat_options.h"
#include "treadle/ops/layout/views.h"

namespace treadle {
namespace {

int axis_of(const Shape& shape, const Attributes& attributes) {
  return normalize_axis(attributes.as<ConcatOptions>().axis, shape.rank(), "concat");
}

bool fits(const Shape& a, Shape b, int axis) {
  if (a.rank() != b.rank()) return false;
  b[axis] = a[axis];
  return a == b;
}

std::vector<int> rows(Specs inputs, const Attributes& attributes) {
  std::vector<int> all;
  if (axis_of(inputs[0].shape, attributes) == 0) return all;
  for (size_t i = 0; i < inputs.size(); ++i) all.push_back(int(i));
  return all;
}

std::vector<TensorSpec> infer(Specs inputs, const Attributes& attributes) {
  require_same_dtype("concat", inputs);
  Shape shape = inputs[0].shape;
  int axis = axis_of(shape, attributes);
  bool channels_last = true, row_major = true;
  shape[axis] = 0;
  for (const TensorSpec& input : inputs) {
    require<ShapeError>(fits(shape, input.shape, axis), "concat: shapes {} and {} differ beside axis {}",
                        inputs[0].shape, input.shape, axis);
    shape[axis] += input.shape[axis];
    channels_last = channels_last && is_channels_last(input.shape, input.strides);
    row_major = row_major && is_contiguous(input.shape, input.strides);
  }
  TensorSpec y = TensorSpec::of(shape, inputs[0].dtype);
  if (channels_last && !row_major) y.strides = channels_last_strides(shape);
  return {y};
}

std::vector<ReferenceTensor> reference(ReferenceInputs inputs, const Attributes& attributes) {
  ReferenceTensor y{inputs[0].shape, {}};
  int axis = axis_of(y.shape, attributes);
  int64_t outer = 1, inner = 1, extent = 0;
  for (int i = 0; i < axis; ++i) outer *= inputs[0].shape[i];
  for (int i = axis + 1; i < inputs[0].shape.rank(); ++i) inner *= inputs[0].shape[i];
  for (const ReferenceTensor& input : inputs) extent += input.shape[axis];
  y.shape[axis] = extent;
  for (int64_t o = 0; o < outer; ++o)
    for (const ReferenceTensor& input : inputs)
      for (int64_t i = 0; i < input.shape[axis] * inner; ++i)
        y.values.push_back(input.values[o * input.shape[axis] * inner + i]);
  return {y};
}

/// Slices of the upstream gradient. Trailing inputs without elements get none, which means zero.
std::vector<Tensor> gradient(const GradientContext& context) {
  const Shape& shape = context.output_spec().shape;
  int axis = axis_of(shape, context.attributes());
  std::vector<Tensor> gradients;
  for (int64_t begin = 0; begin < shape[axis];) {
    int k = int(gradients.size());
    int64_t end = begin + context.input_spec(k).shape[axis];
    gradients.push_back(context.needs(k) ? slice(context.upstream(), axis, begin, end) : Tensor());
    begin = end;
  }
  return gradients;
}

std::vector<TestCase> cases() {
  auto with = [](const char* label, int64_t axis, std::vector<TestInput> inputs) {
    return TestCase{label, std::move(inputs), Attributes::of(ConcatOptions{axis})};
  };
  const TestLayout nhwc = TestLayout::channels_last;
  return {with("one", 0, {{{2, 3}}}),
          with("rows", 0, {{{2, 3}}, {{4, 3}}}),
          with("columns", -1, {{{5, 3}}, {{5, 1}}, {{5, 7}}}),
          with("vectors", 0, {{{1}}, {{2}}, {{3}}, {{4}}, {{5}}}),
          with("an empty one", 1, {{{2, 0}}, {{2, 3}}}),
          with("nothing", 0, {{{0, 3}}, {{0, 3}}}),
          with("transposed", 1, {{{4, 3, 2}, {}, TestLayout::transposed}, {{4, 2, 2}}}),
          with("channels_last", 1, {{{2, 3, 4, 5}, {}, nhwc}, {{2, 2, 4, 5}, {}, nhwc}}),
          with("mixed layouts", 1, {{{2, 9, 4, 5}, {}, nhwc}, {{2, 2, 4, 5}}})};
}

std::vector<RefusedCall> refused_calls() {
  const TestInput x{{2, 3}}, scalar{{}};
  return {refuses<ShapeError>({x}, {"concat", "axis 2"}, Attributes::of(ConcatOptions{2})),
          refuses<ShapeError>({x, {{3, 2}}}, {"[2, 3]", "[3, 2]"}),
          refuses<ShapeError>({x, scalar}, {"[2, 3]", "[]"}), refuses<ShapeError>({scalar}, {"0 axes"}),
          refuses<DTypeError>({x, {.shape = x.shape, .dtype = {DType::i64}}}, {"f32", "i64"})};
}

}  // namespace

namespace ops {

void register_concat(Registry& registry) {
  registry.add({.name = "concat",
                .summary = "y = inputs one after another along an axis",
                .options = &schema_of<ConcatOptions>(),
                .dtypes = kEveryDType,
                .autocast = AutocastPolicy::equal,
                .infer = infer,
                .reference = reference,
                .rows = rows,
                .gradient = gradient,
                .cases = cases,
                .refused_calls = refused_calls,
                .operations = no_operations()});
}

}  // namespace ops

Tensor concat(const std::vector<Tensor>& tensors, int64_t axis) {
  static const Op& op = op_named("concat");
  return apply(op, tensors, Attributes::of(ConcatOptions{axis}))[0];
}

}  // namespace treadle
