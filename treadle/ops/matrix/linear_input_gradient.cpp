#include "treadle/ops/matrix/linear_input_gradient.h"

#include "treadle/core/error.h"
#include "treadle/graph/registry.h"
#include "treadle/graph/select.h"
#include "treadle/ops/matrix/linear_input_gradient_call.h"
#include "treadle/ops/matrix/matrix_product.h"

namespace treadle {
namespace {

constexpr const char* kName = "linear_input_gradient";

std::vector<TensorSpec> infer(Specs inputs, const Attributes&) {
  require_same_dtype(kName, inputs);
  const Shape &dy = inputs[0].shape, &w = inputs[1].shape, &x = inputs[2].shape;
  require<ShapeError>(dy.rank() == 2 && x.rank() == 2 && dy[0] == x[0] && w == Shape{dy[1], x[1]},
                      "{}: dy {}, w {} and x {} are not [N, out], [out, in] and [N, in]", kName, dy, w, x);
  return {TensorSpec::of(x, inputs[0].dtype)};
}

std::vector<ReferenceTensor> reference(ReferenceInputs inputs, const Attributes&) {
  const ReferenceTensor &dy = inputs[0], &w = inputs[1], &x = inputs[2];
  const int64_t N = x.shape[0], in = x.shape[1], out = w.shape[0];
  ReferenceTensor dx = ReferenceTensor::zeros({N, in});
  for (int64_t n = 0; n < N; ++n)
    for (int64_t i = 0; i < in; ++i) {
      if (x.values[n * in + i] == 0) continue;
      for (int64_t o = 0; o < out; ++o)
        dx.values[n * in + i] += dy.values[n * out + o] * w.values[o * in + i];
    }
  return {dx};
}

constexpr auto kPlain = TestLayout::contiguous, kTransposed = TestLayout::transposed,
               kSliced = TestLayout::sliced, kExpanded = TestLayout::expanded;
constexpr TestFill kMixed{TestFill::integers, -1, 1}, kClosed{TestFill::integers, -3, 1},
    kZero{TestFill::constant, 0};
/// Sums of their products are exact in every dtype, which the error model asks for where x is not finite.
constexpr TestFill kSmallIntegers{TestFill::integers, -2, 2};

TestCase masked(const char* label, Shape x, int64_t out, TestFill x_fill = kMixed,
                TestLayout w_layout = kPlain, TestLayout dy_layout = kPlain, TestLayout x_layout = kPlain) {
  return {label, {{{x[0], out}, {}, dy_layout}, {{out, x[1]}, {}, w_layout}, {x, x_fill, x_layout}}, {}};
}

TestCase filled(const char* label, TestFill dy, TestFill w, TestFill x, TestLayout w_layout) {
  return {label, {{{9, 13}, dy}, {{13, 37}, w, w_layout}, {{9, 37}, x}}, {}};
}

std::vector<TestCase> cases() {
  constexpr TestFill nan{TestFill::with_nan}, infinity{TestFill::with_infinity};
  return {masked("one", {1, 1}, 1, {}),
          masked("odd", {5, 7}, 3),
          masked("many zeros", {9, 41}, 13, kClosed, kTransposed),
          masked("all zeros", {5, 19}, 6, kZero, kTransposed),
          masked("no zeros", {6, 35}, 11, {}, kTransposed),
          masked("no zeros, row-major", {6, 35}, 11, {}),
          masked("one row", {1, 70}, 9, kMixed, kTransposed),
          masked("one input", {33, 1}, 6),
          masked("one output", {33, 70}, 1),
          masked("tiles", {40, 65}, 33),
          masked("tiles, transposed", {40, 65}, 33, kMixed, kTransposed),
          masked("several threads", {37, 300}, 20, kMixed, kTransposed),
          masked("wide", {3, 17}, 261, kMixed, kTransposed),
          masked("all transposed", {9, 33}, 34, kMixed, kTransposed, kTransposed, kTransposed),
          masked("sliced", {7, 6}, 5, kMixed, kSliced, kSliced, kSliced),
          masked("expanded", {7, 6}, 5, kMixed, kExpanded, kExpanded, kExpanded),
          filled("x with NaN", kSmallIntegers, kSmallIntegers, nan, kTransposed),
          filled("x with infinities", kSmallIntegers, kSmallIntegers, infinity, kPlain),
          filled("w with infinities", {}, infinity, kMixed, kTransposed),
          filled("w with NaN", {}, nan, kMixed, kPlain),
          filled("dy with infinities", infinity, {}, kMixed, kTransposed),
          masked("no inputs", {3, 0}, 2),
          masked("no outputs", {3, 4}, 0),
          masked("empty batch", {0, 4}, 3)};
}

ErrorModel error(Specs inputs, const Attributes&) {
  return {ErrorModel::absolute_inputs, double(inputs[1].shape[0])};
}

/// The address of x[n, i].
template <class T>
const T* element(const TensorView& x, int64_t n, int64_t i) {
  return x.as<const T>() + n * x.strides[0] + i * x.strides[1];
}

/// Rows [begin, end) of dx; p.M, p.N and p.K are the batch, in and out.
template <class T>
void multiply_rows(const MatrixProduct& p, const TensorView& x, int64_t begin, int64_t end) {
  using C = HostCompute<T>;
  for (int64_t n = begin; n < end; ++n)
    for (int64_t i = 0; i < p.N; ++i) {
      const T *dy = static_cast<const T*>(p.a) + n * p.a_row,
              *w = static_cast<const T*>(p.b) + i * p.b_column;
      C sum = 0;
      if (C(*element<T>(x, n, i)) != C(0))
        for (int64_t o = 0; o < p.K; ++o) sum += C(dy[o * p.a_column]) * C(w[o * p.b_row]);
      static_cast<T*>(p.c)[n * p.c_row + i * p.c_column] = T(sum);
    }
}

/// Any strides, any dtype.
void run_loop(const Call& call) {
  constexpr int64_t kProducts = 20'000;  // worth a thread
  const MatrixProduct p = matmul_product(call);
  const int64_t grain = std::max<int64_t>(kProducts / std::max<int64_t>(p.N * p.K, 1), 1);
  with_floating_type(call.output().dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    parallel_for(p.M, grain,
                 [&](int64_t begin, int64_t end) { multiply_rows<T>(p, call.input(2), begin, end); });
  });
}

/// Of `count` elements, dx becomes 0 where x is.
template <class T>
void drop_zeros(T* dx, int64_t dx_step, const T* x, int64_t x_step, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    dx[i * dx_step] = HostCompute<T>(x[i * x_step]) == 0 ? T(0) : dx[i * dx_step];
}

template <class T>
void drop_zeros(const TensorView& dx, const TensorView& x) {
  constexpr int64_t kElements = 16'384;  // worth a thread
  for_each_row(make_strided<2>(dx, {&x, 1}), kElements,
               [&](const int64_t(&offsets)[2], const std::array<int64_t, 2>& steps, int64_t count) {
                 T* result = dx.as<T>() + offsets[0];
                 const T* mask = x.as<const T>() + offsets[1];
                 if (steps[0] == 1 && steps[1] == 1)
                   drop_zeros(result, 1, mask, 1, count);  // one vector at a time
                 else
                   drop_zeros(result, steps[0], mask, steps[1], count);
               });
}

/// All products, then the zeros: where x has few of them.
void run_two_steps(const Call& call) {
  run_whole_input_gradient(call, DeviceKind::cpu);
  with_floating_type(call.output().dtype, [&](auto tag) {
    drop_zeros<typename decltype(tag)::type>(call.output(), call.input(2));
  });
}

}  // namespace

void run_whole_input_gradient(const Call& call, DeviceKind device) {
  static const Op& matmul = op_named("matmul");
  static const Attributes none;
  const Call product{call.inputs.first(2), call.outputs, none, call.stream, call.scratch};
  select_variant(matmul, product, device).run(product);
}

namespace ops {

void register_linear_input_gradient(Registry& registry) {
  registry.add({.name = kName,
                .summary = "dx[n,i] = Σ_o dy[n,o] · w[o,i] where x[n,i] ≠ 0, else 0",
                .infer = infer,
                .reference = reference,
                .cases = cases,
                .error = error});
  registry.add_variant(kName, {.name = "loop", .device = DeviceKind::cpu, .run = run_loop});
  registry.add_variant(
      kName, {.name = "two_steps", .device = DeviceKind::cpu, .run = run_two_steps, .preference = 10});
}

}  // namespace ops

Tensor linear_input_gradient(const Tensor& dy, const Tensor& w, const Tensor& x) {
  static const Op& op = op_named(kName);
  return apply(op, {dy, w, x})[0];
}

}  // namespace treadle
