#include "treadle/ops/matrix/matmul.h"

#include "treadle/core/error.h"
#include "treadle/graph/cost.h"
#include "treadle/graph/registry.h"
#include "treadle/graph/require_defined.h"
#include "treadle/ops/layout/views.h"
#include "treadle/ops/matrix/matrix_product.h"
#include "treadle/ops/reduce/reduce.h"

namespace treadle {
namespace {

using detail::without_last_two;

/// The broadcast of the axes before the last two.
Shape batch_shape(const Shape& a, const Shape& b) {
  return broadcast_shapes(without_last_two(a), without_last_two(b), "matmul: the batch axes");
}

std::vector<TensorSpec> infer(Specs inputs, const Attributes&) {
  require_same_dtype("matmul", inputs);
  const Shape &a = inputs[0].shape, &b = inputs[1].shape;
  require<ShapeError>(a.rank() >= 2 && b.rank() >= 2, "matmul: a {} and b {} must have at least two axes", a,
                      b);
  require<ShapeError>(a[-1] == b[-2], "matmul: a {} has rows of {}, b {} has columns of {}", a, a[-1], b,
                      b[-2]);
  Shape c = batch_shape(a, b);
  c.push_back(a[-2]);
  c.push_back(b[-1]);
  return {TensorSpec::of(c, inputs[0].dtype)};
}

/// Of two matrices the rows of a, of batches those that are not broadcast.
std::vector<int> rows(Specs inputs, const Attributes& attributes) {
  if (inputs[0].shape.rank() == 2 && inputs[1].shape.rank() == 2) return {0};
  return rows_of_broadcast(inputs, attributes);
}

std::vector<ReferenceTensor> reference(ReferenceInputs inputs, const Attributes&) {
  const Shape &a = inputs[0].shape, &b = inputs[1].shape, batch = batch_shape(a, b);
  const int64_t M = a[-2], K = a[-1], N = b[-1];
  const Strides a_strides =
      broadcast_strides(without_last_two(a), without_last_two(contiguous_strides(a)), batch);
  const Strides b_strides =
      broadcast_strides(without_last_two(b), without_last_two(contiguous_strides(b)), batch);
  Shape shape = batch;
  shape.push_back(M);
  shape.push_back(N);
  ReferenceTensor c = ReferenceTensor::zeros(shape);
  for (int64_t i = 0; i < c.shape.numel(); ++i) {
    const int64_t n = i % N, m = i / N % M;
    int64_t a_offset = m * K, b_offset = n;
    for (int64_t axis = batch.rank() - 1, rest = i / N / M; axis >= 0; rest /= batch[int(axis--)]) {
      a_offset += rest % batch[int(axis)] * a_strides[int(axis)];
      b_offset += rest % batch[int(axis)] * b_strides[int(axis)];
    }
    for (int64_t k = 0; k < K; ++k)
      c.values[i] += inputs[0].values[a_offset + k] * inputs[1].values[b_offset + k * N];
  }
  return {c};
}

/// All rows of a batch of matrices, as one matrix.
Tensor stacked_rows(const Tensor& x) {
  return reshape(x, {x.numel() / std::max<int64_t>(x.size(-1), 1), x.size(-1)});
}

/// aᵀ·dc, summed over the batch where b has none: as one product when it is one matrix.
Tensor gradient_of_b(const Tensor& a, const Tensor& dc, const Shape& b) {
  const bool one_product = b.rank() == 2 && a.rank() > 2 && a.size(-1) > 0 && dc.size(-1) > 0;
  if (one_product) return matmul(transpose(stacked_rows(a), 0, 1), stacked_rows(dc));
  return sum_to(matmul(transpose(a, -2, -1), dc), b);
}

/// da = dc·bᵀ, db = aᵀ·dc, each summed over the batch axes that were broadcast.
std::vector<Tensor> gradient(const GradientContext& context) {
  const Tensor dc = context.upstream();
  std::vector<Tensor> result(2);
  if (context.needs(0))
    result[0] = sum_to(matmul(dc, transpose(context.input(1), -2, -1)), context.input_spec(0).shape);
  if (context.needs(1)) result[1] = gradient_of_b(context.input(0), dc, context.input_spec(1).shape);
  return result;
}

constexpr auto kPlain = TestLayout::contiguous, kTransposed = TestLayout::transposed,
               kSliced = TestLayout::sliced;

std::vector<TestCase> cases() {
  auto two = [](const char* label, Shape a, Shape b, TestLayout a_layout = kPlain,
                TestLayout b_layout = kPlain) {
    return TestCase{label, {{a, {}, a_layout}, {b, {}, b_layout}}, {}};
  };
  TestInput small{{9, 70}, {TestFill::with_subnormal}}, one{{70, 33}};
  small.differentiable = one.differentiable = false;
  return {{"subnormal", {small, one}, {}},
          two("one", {1, 1}, {1, 1}),
          two("odd", {5, 7}, {7, 3}),
          two("tiles", {33, 40}, {40, 65}),
          two("several threads", {20, 37}, {37, 300}),
          two("tall", {300, 19}, {19, 20}),
          two("wide rows", {36, 24}, {24, 72}),
          two("wide tiles", {130, 40}, {40, 136}),
          two("row", {1, 70}, {70, 9}),
          two("column", {9, 70}, {70, 1}),
          two("dot", {1, 67}, {67, 1}),
          two("outer", {6, 1}, {1, 5}),
          two("a transposed", {35, 34}, {34, 9}, kTransposed),
          two("b transposed", {9, 34}, {34, 35}, kPlain, kTransposed),
          two("both transposed", {33, 9}, {9, 34}, kTransposed, kTransposed),
          two("sliced", {7, 6}, {6, 5}, kSliced, kSliced),
          two("expanded", {7, 6}, {6, 5}, TestLayout::expanded, TestLayout::expanded),
          two("batch", {3, 5, 4}, {3, 4, 6}),
          two("batch of a", {3, 5, 4}, {4, 6}),
          two("batch of b", {5, 4}, {3, 4, 6}),
          two("batch transposed", {3, 5, 4}, {3, 4, 6}, kTransposed, kTransposed),
          two("broadcast", {2, 1, 3, 4}, {5, 4, 2}),
          two("broadcast both", {1, 3, 2, 5}, {2, 1, 5, 2}),
          two("rows of a batch", {4, 1, 6}, {1, 6, 3}),
          two("no products", {2, 0}, {0, 3}),
          two("no rows", {0, 4}, {4, 3}),
          two("empty batch", {0, 2, 4}, {4, 3})};
}

std::vector<RefusedCall> refused_calls() {
  const TestInput a{{2, 3}};
  return {refuses<ShapeError>({a, {{2, 4}}}, {"[2, 3]", "[2, 4]"}),
          refuses<ShapeError>({a, {{3}}}, {"[2, 3]", "[3]"}),
          refuses<ShapeError>({{{2, 4, 4}}, {{3, 4, 4}}}, {"[2]", "[3]"}),
          refuses<DTypeError>({a, {.shape = {3, 2}, .dtype = {DType::f64}}}, {"matmul", "f32", "f64"})};
}

ErrorModel error(Specs inputs, const Attributes&) {
  return {ErrorModel::absolute_inputs, double(inputs[0].shape[-1])};
}

/// The small one is what a kernel on the SIMT executor finishes in a moment, the large ones fill a GPU.
std::vector<BenchCase> bench_cases(DeviceKind device) {
  auto square = [](int64_t n) { return BenchCase{fmt::format("{}³", n), {{n, n}, {n, n}}}; };
  if (device == DeviceKind::simt) return {square(256)};
  if (device == DeviceKind::cpu) return {square(256), square(1024)};
  return {square(256), square(1024), square(2048), square(4096), square(8192)};
}

}  // namespace

namespace ops {

void register_matmul(Registry& registry) {
  registry.add({.name = "matmul",
                .summary = "c[…,m,n] = Σ_k a[…,m,k] · b[…,k,n]",
                .autocast = AutocastPolicy::low,
                .infer = infer,
                .reference = reference,
                .rows = rows,
                .gradient = gradient,
                .saves = {{Saved::input, 0}, {Saved::input, 1}},
                .cases = cases,
                .refused_calls = refused_calls,
                .error = error,
                .operations = for_each_product(),
                .bench_cases = bench_cases});
}

}  // namespace ops

const Op& matmul_op() {
  static const Op& op = op_named("matmul");
  return op;
}

Tensor matmul(const Tensor& a, const Tensor& b) {
  const Op& op = matmul_op();
  require_defined("matmul", a, 1);
  require_defined("matmul", b, 2);
  require<ShapeError>(a.rank() > 0 && b.rank() > 0, "matmul: a {} and b {} must have at least one axis",
                      a.shape(), b.shape());
  Tensor c = apply(op, {a.rank() == 1 ? unsqueeze(a, 0) : a, b.rank() == 1 ? unsqueeze(b, 1) : b})[0];
  if (b.rank() == 1) c = squeeze(c, -1);
  return a.rank() == 1 ? squeeze(c, b.rank() == 1 ? -1 : -2) : c;
}

}  // namespace treadle
