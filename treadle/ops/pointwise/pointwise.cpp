#include "treadle/ops/pointwise/pointwise.h"

#include <algorithm>
#include <cmath>

#include "treadle/core/error.h"
#include "treadle/graph/require_defined.h"
#include "treadle/ops/layout/cast.h"
#include "treadle/ops/layout/copy.h"
#include "treadle/ops/layout/views.h"
#include "treadle/ops/pointwise/functions/arithmetic.h"
#include "treadle/ops/pointwise/functions/clamp.h"
#include "treadle/ops/pointwise/functions/comparisons.h"
#include "treadle/ops/pointwise/functions/extrema.h"
#include "treadle/ops/pointwise/functions/pow.h"
#include "treadle/ops/pointwise/functions/prelu.h"
#include "treadle/ops/pointwise/pointwise_layout.h"
#include "treadle/ops/pointwise/pointwise_op.h"
#include "treadle/ops/pointwise/relu_gradient.h"
#include "treadle/ops/reduce/reduce.h"

namespace treadle {

using namespace functions;

namespace pointwise {

std::vector<TensorSpec> infer(const char* name, int operands, Specs inputs) {
  require<ValueError>(int(inputs.size()) == operands, "{}: {} operands, not {}", name, operands,
                      inputs.size());
  require_same_dtype(name, inputs);
  return {pointwise_output(name, inputs, inputs[0].dtype)};
}

ReferenceTensor map(ReferenceInputs inputs, const std::function<double(const double*)>& f) {
  Shape shape = inputs[0].shape;
  for (auto& input : inputs) shape = broadcast_shapes(shape, input.shape, "reference");
  ReferenceTensor y = ReferenceTensor::zeros(shape);
  std::vector<Strides> strides;
  for (auto& input : inputs)
    strides.push_back(broadcast_strides(input.shape, contiguous_strides(input.shape), shape));
  for (int64_t i = 0; i < shape.numel(); ++i) {
    double operands[3] = {};
    for (size_t k = 0; k < inputs.size(); ++k) {
      int64_t offset = 0, rest = i;
      for (int axis = shape.rank() - 1; axis >= 0; rest /= shape[axis--])
        offset += rest % shape[axis] * strides[k][axis];
      operands[k] = inputs[k].values[offset];
    }
    y.values[i] = f(operands);
  }
  return y;
}

namespace {

/// Whole numbers of the range, so that 0 and equal operands occur; no derivatives are taken there.
TestInput whole_numbers(Range range, const Shape& shape) {
  TestInput input{shape, {TestFill::integers, std::ceil(range.low), std::floor(range.high)}};
  input.differentiable = false;
  return input;
}

/// Of the integer dtypes ordinary numbers.
TestInput some_nan(Range range, const Shape& shape) {
  TestInput input{shape, {TestFill::with_nan, range.low, range.high}};
  input.differentiable = false;
  return input;
}

/// Numbers of the tested range, and some whose result may be that of zero.
TestInput subnormal_input(Range range, const Shape& shape) {
  TestInput input{shape, {TestFill::with_subnormal, range.low, range.high}};
  input.differentiable = false;
  return input;
}

}  // namespace

std::vector<TestCase> unary_cases(Range range, const Attributes& attributes) {
  // A single value must be one where the derivative is not 0.
  TestFill fill{TestFill::apart, range.low, range.high},
      positive{TestFill::apart, range.low < 0 ? 0.1 : range.low, range.high};
  std::vector<TestCase> list;
  auto add = [&](const char* label, const Shape& shape, TestLayout layout = TestLayout::contiguous) {
    list.push_back({label, {{shape, shape.numel() == 1 ? positive : fill, layout}}, attributes});
  };
  add("vector", {1027});
  add("aligned", {4, 256});
  add("one", {1});
  add("rank 0", {});
  add("empty", {0, 3});
  add("transposed", {5, 7, 3}, TestLayout::transposed);
  add("sliced", {6, 11}, TestLayout::sliced);
  add("channels_last", {2, 3, 5, 7}, TestLayout::channels_last);
  list.push_back({"whole numbers", {whole_numbers(range, {37})}, attributes});
  list.push_back({"NaN", {some_nan(range, {523})}, attributes});
  list.push_back({"subnormal", {subnormal_input(range, {1031})}, attributes});
  return list;
}

std::vector<TestCase> binary_cases(Range range, const Attributes& attributes) {
  TestFill fill{TestFill::apart, range.low, range.high};
  auto two = [&](const char* label, Shape a, Shape b, TestLayout layout) {
    return TestCase{label, {{a, fill, layout}, {b, fill}}, attributes};
  };
  return {two("same", {9, 115}, {9, 115}, TestLayout::contiguous),
          two("aligned", {64, 16}, {64, 16}, TestLayout::contiguous),
          two("row", {4, 6, 5}, {5}, TestLayout::contiguous),
          two("column", {4, 6, 5}, {6, 1}, TestLayout::contiguous),
          two("outer", {7, 1}, {1, 9}, TestLayout::contiguous),
          two("scalar", {3, 5}, {}, TestLayout::contiguous),
          two("empty", {0, 5}, {5}, TestLayout::contiguous),
          two("transposed", {5, 7, 3}, {5, 7, 3}, TestLayout::transposed),
          two("channels_last", {2, 3, 4, 5}, {3, 1, 1}, TestLayout::channels_last),
          {"whole numbers", {whole_numbers(range, {7, 31}), whole_numbers(range, {7, 31})}, attributes},
          {"NaN", {some_nan(range, {2, 523}), whole_numbers(range, {523})}, attributes},
          {"NaN behind", {whole_numbers(range, {2, 523}), some_nan(range, {2, 523})}, attributes},
          {"NaN twice", {some_nan(range, {523}), some_nan(range, {523})}, attributes},
          {"subnormal", {subnormal_input(range, {7, 23}), subnormal_input(range, {23})}, attributes}};
}

std::vector<TestCase> comparison_cases(const Attributes& attributes) {
  const Range range{-2, 2};
  TestFill fill{TestFill::integers, -2, 2};
  return {{"same", {{{40, 26}, fill}, {{40, 26}, fill}}, attributes},
          {"row", {{{4, 5}, fill}, {{5}, fill}}, attributes},
          {"transposed", {{{4, 5}, fill, TestLayout::transposed}, {{4, 5}, fill}}, attributes},
          {"NaN", {some_nan(range, {523}), {{523}, fill}}, attributes},
          {"NaN twice", {some_nan(range, {523}), some_nan(range, {523})}, attributes},
          {"empty", {{{0}, fill}, {{1}, fill}}, attributes},
          {"subnormal",
           {{{40, 26}, {TestFill::with_subnormal}}, {{40, 26}, {TestFill::constant, 0}}},
           attributes}};
}

DType floating_or_f32(DType dtype) { return is_floating(dtype) ? dtype : DType::f32; }

Tensor as_floating(const std::string& op, const Tensor& x) {
  require_defined(op.c_str(), x, 1);
  return cast(x, floating_or_f32(x.dtype()));
}

std::vector<BenchCase> bench_cases(DeviceKind device, int operands, const Attributes& attributes) {
  if (device == DeviceKind::simt)
    return {{"64K", std::vector<Shape>(size_t(operands), {1 << 16}), attributes}};
  return {{"4M", std::vector<Shape>(size_t(operands), {1 << 22}), attributes}};
}

}  // namespace pointwise

namespace {

std::vector<ReferenceTensor> where_reference(ReferenceInputs inputs, const Attributes&) {
  return {pointwise::map(inputs, [](const double* x) { return x[0] != 0 ? x[1] : x[2]; })};
}

std::vector<TestCase> where_cases() {
  TestInput same{{6, 173}, {TestFill::integers, 0, 1}, TestLayout::contiguous, {DType::boolean}, true, false};
  TestInput column = same;
  column.shape = {6, 1};
  return {{"same", {same, {{6, 173}}, {{6, 173}}}, {}}, {"broadcast", {column, {{6, 9}}, {{9}}}, {}}};
}

/// Sums a gradient back to an operand's shape where that operand was broadcast.
Tensor reduce_to(const GradientContext& context, int input, const Tensor& gradient) {
  return sum_to(gradient, context.input_spec(input).shape);
}

std::vector<Tensor> add_gradient(const GradientContext& c) {
  return {c.needs(0) ? reduce_to(c, 0, c.upstream()) : Tensor(),
          c.needs(1) ? reduce_to(c, 1, c.upstream()) : Tensor()};
}

std::vector<Tensor> sub_gradient(const GradientContext& c) {
  return {c.needs(0) ? reduce_to(c, 0, c.upstream()) : Tensor(),
          c.needs(1) ? reduce_to(c, 1, neg(c.upstream())) : Tensor()};
}

std::vector<Tensor> mul_gradient(const GradientContext& c) {
  return {c.needs(0) ? reduce_to(c, 0, mul(c.upstream(), c.input(1))) : Tensor(),
          c.needs(1) ? reduce_to(c, 1, mul(c.upstream(), c.input(0))) : Tensor()};
}

std::vector<Tensor> div_gradient(const GradientContext& c) {
  Tensor b = c.input(1), da = div(c.upstream(), b);
  return {c.needs(0) ? reduce_to(c, 0, da) : Tensor(),
          c.needs(1) ? reduce_to(c, 1, neg(mul(da, c.output(0)))) : Tensor()};
}

/// d/da a^b = b·a^(b-1), 0 for b = 0; d/db a^b = a^b·ln a, 0 for a = 0 and b ≥ 0, where the limit is: as
/// PyTorch.
std::vector<Tensor> pow_gradient(const GradientContext& c) {
  Tensor a = c.input(0), b = c.input(1);
  std::vector<Tensor> gradients(2);
  if (c.needs(0)) gradients[0] = reduce_to(c, 0, where(equal(b, 0), 0, c.upstream() * b * pow(a, b - 1)));
  if (c.needs(1)) {
    const Tensor constant = mul(equal(a, 0), greater_equal(b, 0));
    gradients[1] = reduce_to(c, 1, where(constant, 0, c.upstream() * c.output(0) * log(a)));
  }
  return gradients;
}

std::vector<Tensor> choice_gradient(const GradientContext& c, const Tensor& takes_first) {
  Tensor zero = scalar_like(0, c.upstream());
  return {c.needs(0) ? reduce_to(c, 0, where(takes_first, c.upstream(), zero)) : Tensor(),
          c.needs(1) ? reduce_to(c, 1, where(takes_first, zero, c.upstream())) : Tensor()};
}

std::vector<Tensor> maximum_gradient(const GradientContext& c) {
  return choice_gradient(c, greater_equal(c.input(0), c.input(1)));
}

std::vector<Tensor> minimum_gradient(const GradientContext& c) {
  return choice_gradient(c, less_equal(c.input(0), c.input(1)));
}

/// As PyTorch's at 0, where w counts.
std::vector<Tensor> prelu_gradient(const GradientContext& c) {
  const Tensor x = c.input(0), dy = c.upstream(), passes = greater(x, 0);
  return {c.needs(0) ? reduce_to(c, 0, where(passes, dy, dy * c.input(1))) : Tensor(),
          c.needs(1) ? reduce_to(c, 1, where(passes, 0, dy * x)) : Tensor()};
}

std::vector<Tensor> where_gradient(const GradientContext& c) {
  Tensor zero = scalar_like(0, c.upstream());
  return {Tensor(), c.needs(1) ? reduce_to(c, 1, where(c.input(0), c.upstream(), zero)) : Tensor(),
          c.needs(2) ? reduce_to(c, 2, where(c.input(0), zero, c.upstream())) : Tensor()};
}

std::vector<TensorSpec> where_infer(Specs inputs, const Attributes&) {
  require<DTypeError>(inputs[0].dtype == DType::boolean, "where: the condition is {}, not bool",
                      name_of(inputs[0].dtype));
  require<DTypeError>(inputs[1].dtype == inputs[2].dtype, "where: operands are {} and {}",
                      name_of(inputs[1].dtype), name_of(inputs[2].dtype));
  return {pointwise_output("where", inputs, inputs[1].dtype)};
}

}  // namespace

TensorSpec pointwise_output(const char* op, Specs inputs, DType dtype) {
  Shape shape = inputs[0].shape;
  for (const TensorSpec& input : inputs.subspan(1)) shape = broadcast_shapes(shape, input.shape, op);
  for (const TensorSpec& input : inputs)
    if (input.shape == shape && is_dense(shape, input.strides)) return {shape, input.strides, dtype, true};
  return TensorSpec::of(shape, dtype);
}

namespace ops {

void register_pointwise(Registry& registry) {
  const std::vector<Saved> none, both{{Saved::input, 0}, {Saved::input, 1}},
      all{{Saved::input, 0}, {Saved::input, 1}, {Saved::output, 0}};
  pointwise::declare_binary<Add>(registry, add_gradient, none);
  pointwise::declare_binary<Sub>(registry, sub_gradient, none);
  pointwise::declare_binary<Mul>(registry, mul_gradient, both);
  pointwise::declare_binary<Div>(registry, div_gradient, {{Saved::input, 1}, {Saved::output, 0}});
  pointwise::declare_binary<Pow>(registry, pow_gradient, all);
  pointwise::declare_binary<Maximum>(registry, maximum_gradient, both);
  pointwise::declare_binary<Minimum>(registry, minimum_gradient, both);
  pointwise::declare_binary<Prelu>(registry, prelu_gradient, both);
  registry.add({.name = "where",
                .summary = "y = condition ? a : b, broadcast",
                .dtypes = kEveryDType,
                .dtype_operand = 1,
                .infer = where_infer,
                .reference = where_reference,
                .rows = rows_of_broadcast,
                .gradient = where_gradient,
                .saves = {{Saved::input, 0}},
                .cases = where_cases,
                .operations = for_each_output(1)});
  add_to_chains(registry, "where");
  registry.set_clone([](const Tensor& x) { return treadle::clone(x); });
  registry.set_accumulate([](const Tensor& a, const Tensor& b) { return treadle::add(a, b); });
}

}  // namespace ops

namespace {

TypedOperand typed(const Operand& x) {
  if (!x.tensor()) return {x.number().dtype(), OperandKind::number};
  return {x.tensor()->dtype(), x.tensor()->rank() == 0 ? OperandKind::rank0 : OperandKind::tensor};
}

/// A number as an element of T; integers wrap.
template <class T>
T element_of(const Scalar& number) {
  if constexpr (std::is_same_v<T, bool>)
    return number.to_double() != 0;
  else if constexpr (std::is_integral_v<T>)
    return T(number.integer());
  else
    return T(number.to_double());
}

Tensor number_tensor(const Scalar& number, DType dtype, Device device) {
  return with_type(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    T element = element_of<T>(number);
    return Tensor::from(std::span<const T>(&element, 1), Shape{}, device);
  });
}

void require_operand(const char* op, const Operand& x, int number) {
  if (x.tensor()) require_defined(op, *x.tensor(), number);
}

/// Two operands, one of them a tensor at least, before they have one dtype.
struct OperandPair {
  const Operand &a, &b;

  OperandPair(const char* op, const Operand& a, const Operand& b) : a(a), b(b) {
    require_operand(op, a, 1);
    require_operand(op, b, 2);
    require<ValueError>(a.tensor() || b.tensor(), "{}: both operands are numbers, neither is a tensor", op);
  }
  DType dtype() const { return result_type({typed(a), typed(b)}); }
  Tensor as(const Operand& x, DType dtype) const {
    return x.tensor() ? cast(*x.tensor(), dtype)
                      : number_tensor(x.number(), dtype, (a.tensor() ? a : b).tensor()->device());
  }
};

template <class F>
const Op& op_of() {
  static const Op& op = op_named(F::kName);
  return op;
}

template <class F>
Tensor apply_as(const OperandPair& pair, DType dtype) {
  return apply(op_of<F>(), {pair.as(pair.a, dtype), pair.as(pair.b, dtype)})[0];
}

template <class F>
Tensor binary(const Operand& a, const Operand& b) {
  const OperandPair pair(F::kName, a, b);
  return apply_as<F>(pair, pair.dtype());
}

/// Bools are computed as u8, where 1 + 1 is not 0 either.
template <class F>
Tensor binary_or_bool(const Operand& a, const Operand& b) {
  const OperandPair pair(F::kName, a, b);
  const DType dtype = pair.dtype();
  return dtype == DType::boolean ? cast(apply_as<F>(pair, DType::u8), dtype) : apply_as<F>(pair, dtype);
}

/// In i64 where a number is beyond the dtype: every narrower integer is below or above it there.
template <class F>
Tensor comparison(const Operand& a, const Operand& b) {
  const OperandPair pair(F::kName, a, b);
  const DType dtype = pair.dtype();
  const bool held = (a.tensor() || fits(a.number(), dtype)) && (b.tensor() || fits(b.number(), dtype));
  return apply_as<F>(pair, held ? dtype : DType::i64);
}

/// A bound beyond the dtype becomes the dtype's end.
Tensor clamp_integers(const Tensor& x, const Scalar& low, const Scalar& high) {
  return minimum(maximum(x, nearest_held(low, x.dtype())), nearest_held(high, x.dtype()));
}

}  // namespace

Tensor clamp(const Tensor& x, const Scalar& low, const Scalar& high) {
  require_defined("clamp", x, 1);
  const DType dtype = result_type({typed(x), typed(low), typed(high)});
  const Tensor promoted = cast(x, dtype);
  if (is_integer(dtype)) return clamp_integers(promoted, low, high);
  Clamp bounds;
  bounds.low = low.to_double(), bounds.high = high.to_double();
  return pointwise::apply_unary(clamp_op(), promoted, bounds);
}

const Op& add_op() { return op_of<Add>(); }
const Op& sub_op() { return op_of<Sub>(); }
const Op& mul_op() { return op_of<Mul>(); }
const Op& div_op() { return op_of<Div>(); }
const Op& greater_equal_op() { return op_of<GreaterEqual>(); }

const Op& where_op() {
  static const Op& op = op_named("where");
  return op;
}

Tensor add(const Operand& a, const Operand& b) { return binary_or_bool<Add>(a, b); }
Tensor sub(const Operand& a, const Operand& b) { return binary<Sub>(a, b); }
Tensor mul(const Operand& a, const Operand& b) { return binary_or_bool<Mul>(a, b); }

Tensor div(const Operand& a, const Operand& b) {
  const OperandPair pair(Div::kName, a, b);
  return apply_as<Div>(pair, pointwise::floating_or_f32(pair.dtype()));
}

Tensor pow(const Operand& a, const Operand& b) {
  const OperandPair pair(Pow::kName, a, b);
  const DType dtype = pair.dtype();
  require<ValueError>(b.tensor() || is_floating(dtype) || b.number().integer() >= 0,
                      "pow: integers ({}) raised to the negative number {}; cast() them to a floating dtype",
                      name_of(dtype), to_string(b.number()));
  return apply_as<Pow>(pair, dtype);
}

Tensor maximum(const Operand& a, const Operand& b) { return binary_or_bool<Maximum>(a, b); }
Tensor minimum(const Operand& a, const Operand& b) { return binary_or_bool<Minimum>(a, b); }
Tensor equal(const Operand& a, const Operand& b) { return comparison<Equal>(a, b); }
Tensor not_equal(const Operand& a, const Operand& b) { return comparison<NotEqual>(a, b); }
Tensor less(const Operand& a, const Operand& b) { return comparison<Less>(a, b); }
Tensor less_equal(const Operand& a, const Operand& b) { return comparison<LessEqual>(a, b); }
Tensor greater(const Operand& a, const Operand& b) { return comparison<Greater>(a, b); }
Tensor greater_equal(const Operand& a, const Operand& b) { return comparison<GreaterEqual>(a, b); }

Tensor where(const Tensor& condition, const Operand& a, const Operand& b) {
  const Op& op = where_op();
  require_defined("where", condition, 1);
  require_operand("where", a, 2);
  require_operand("where", b, 3);
  const DType dtype = result_type({typed(a), typed(b)});
  auto operand = [&](const Operand& x) {
    if (x.tensor()) return cast(*x.tensor(), dtype);
    require_fits("where", x.number(), dtype);
    return number_tensor(x.number(), dtype, condition.device());
  };
  return apply(op, {condition, operand(a), operand(b)})[0];
}

Tensor scalar_like(double value, const Tensor& like) {
  require_defined("scalar_like", like, 2);
  require_fits("scalar_like", value, like.dtype());
  return number_tensor(is_floating(like.dtype()) ? Scalar(value) : Scalar(int64_t(value)), like.dtype(),
                       like.device());
}

Tensor celu(const Tensor& x, double alpha) { return elu(x / alpha) * alpha; }
Tensor selu(const Tensor& x) { return elu(x, 1.6732632423543772848, 1.0507009873554804934); }

Tensor prelu(const Tensor& x, const Tensor& w) {
  require_defined("prelu", x, 1);
  require_defined("prelu", w, 2);
  const bool fits = w.rank() == 1 && (w.size(0) == 1 || (x.rank() > 1 && w.size(0) == x.size(1)));
  require<ShapeError>(fits, "prelu: w has shape {}, x {} expects [1], or one slope for each channel",
                      w.shape(), x.shape());
  Shape channels = Dims::filled(std::max(x.rank() - 1, 0), 1);
  if (w.size(0) > 1) channels[0] = w.size(0);
  return binary<Prelu>(x, reshape(w, channels));
}

Tensor relu_gradient(const Tensor& y, const Tensor& dy) { return apply(relu_gradient_op(), {y, dy})[0]; }

}  // namespace treadle
