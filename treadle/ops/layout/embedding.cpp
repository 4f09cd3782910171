#include "treadle/ops/layout/embedding.h"

#include "treadle/core/error.h"
#include "treadle/graph/cost.h"
#include "treadle/graph/registry.h"
#include "treadle/ops/layout/declaration/convert.h"
#include "treadle/ops/layout/index_select.h"
#include "treadle/ops/layout/index_select_options.h"
#include "treadle/ops/layout/views.h"
#include "treadle/ops/pointwise/pointwise.h"

namespace treadle {
namespace {

std::vector<TensorSpec> infer(Specs inputs, const Attributes& attributes) {
  const TensorSpec &w = inputs[0], &indices = inputs[1];
  const int64_t padding = attributes.as<EmbeddingOptions>().padding_index;
  require<ShapeError>(w.shape.rank() == 2, "embedding: w has shape {}, expected [V, E]", w.shape);
  require<DTypeError>(indices.dtype == DType::i64 || indices.dtype == DType::i32,
                      "embedding: indices are i64 or i32, not {}", name_of(indices.dtype));
  require<ValueError>(padding >= -1 && padding < w.shape[0],
                      "embedding: the padding row {} is neither -1 nor one of w {}", padding, w.shape);
  Shape y = indices.shape;
  y.push_back(w.shape[1]);
  return {TensorSpec::of(y, w.dtype)};
}

std::vector<ReferenceTensor> reference(ReferenceInputs inputs, const Attributes&) {
  const ReferenceTensor &w = inputs[0], &indices = inputs[1];
  Shape shape = indices.shape;
  shape.push_back(w.shape[1]);
  ReferenceTensor y{shape, {}};
  for (double index : indices.values)
    for (int64_t e = 0; e < w.shape[1]; ++e) y.values.push_back(w.values[int64_t(index) * w.shape[1] + e]);
  return {y};
}

std::vector<Tensor> gradient(const GradientContext& context) {
  const Shape& w = context.input_spec(0).shape;
  const Tensor indices = reshape(context.input(1), {context.input_spec(1).shape.numel()});
  Tensor dy = reshape(context.upstream(), {indices.numel(), w[1]});
  const int64_t padding = context.options<EmbeddingOptions>().padding_index;
  if (padding >= 0) dy = where(unsqueeze(equal(indices, padding), 1), 0, dy);
  return {index_select_gradient(dy, 0, indices, w[0]), Tensor()};
}

void compose(const Composition& call) {
  static const Attributes rows = Attributes::of(IndexSelectOptions{0});
  const TensorView &w = call.input(0), &y = call.output();
  const TensorView indices = row_major(call, call.input(1), call.input(1).dtype);
  call.run(index_select_op(), {w, reshaped(indices, {indices.numel()})},
           {reshaped(y, {indices.numel(), w.shape[1]})}, rows);
}

TestCase one(const char* label, const Shape& w, const Shape& indices, DType dtype = DType::i64,
             TestLayout layout = TestLayout::contiguous) {
  return {
      label,
      {{w, {}, layout},
       {indices, {TestFill::integers, 0, double(w[0] - 1)}, TestLayout::contiguous, {dtype}, true, false}},
      Attributes::of(EmbeddingOptions{})};
}

std::vector<TestCase> cases() {
  using enum TestLayout;
  TestCase laid_out = one("indices transposed", {7, 4}, {3, 5});
  laid_out.inputs[1].layout = transposed;
  return {one("sentences", {11, 6}, {4, 5}),
          one("vector", {7, 3}, {13}, DType::i32),
          one("one index", {5, 4}, {}),
          one("three axes", {6, 5}, {2, 3, 4}, DType::i32),
          one("w transposed", {7, 4}, {3, 5}, DType::i64, transposed),
          one("no indices", {5, 3}, {0, 4}),
          laid_out};
}

std::vector<RefusedCall> refused_calls() {
  const TestInput w{{4, 3}};
  auto index = [](double value, DType dtype = DType::i64) {
    return TestInput{.shape = {2}, .fill = {TestFill::constant, value}, .dtype = {dtype}};
  };
  auto padding = [](int64_t row) { return Attributes::of(EmbeddingOptions{row}); };
  return {refuses<ValueError>({w, index(4)}, {"index 4", "[0, 4)"}),
          refuses<ValueError>({w, index(-1)}, {"index -1"}),
          refuses<ValueError>({w, index(1)}, {"padding row 4", "[4, 3]"}, padding(4)),
          refuses<ValueError>({w, index(1)}, {"padding row -2"}, padding(-2)),
          refuses<DTypeError>({w, index(1, DType::f32)}, {"i64", "f32"}),
          refuses<ShapeError>({{{4}}, index(1)}, {"w", "[4]", "[V, E]"})};
}

/// The gradient sums as many terms as there are indices, at most.
ErrorModel error(Specs inputs, const Attributes&) {
  return {ErrorModel::result, double(inputs[1].shape.numel()) + 1};
}

}  // namespace

namespace ops {

void register_embedding(Registry& registry) {
  registry.add({.name = "embedding",
                .summary = "y[…, :] = w[indices[…], :]",
                .options = &schema_of<EmbeddingOptions>(),
                .infer = infer,
                .reference = reference,
                .rows = [](Specs, const Attributes&) { return std::vector{1}; },
                .gradient = gradient,
                .saves = {{Saved::input, 1}},
                .compose = compose,
                .cases = cases,
                .refused_calls = refused_calls,
                .error = error,
                .operations = no_operations()});
}

}  // namespace ops

Tensor embedding(const Tensor& w, const Tensor& indices, const EmbeddingOptions& options) {
  static const Op& op = op_named("embedding");
  return apply(op, {w, indices}, Attributes::of(options))[0];
}

}  // namespace treadle
