#include "treadle/ops/layout/cast.h"

#include <fmt/core.h>

#include <cmath>
#include <limits>

#include "treadle/graph/cost.h"
#include "treadle/graph/registry.h"
#include "treadle/graph/require_defined.h"
#include "treadle/ops/layout/cast_options.h"
#include "treadle/ops/layout/declaration/convert.h"
#include "treadle/ops/pointwise/pointwise_layout.h"

namespace treadle {
namespace {

std::vector<TensorSpec> infer(Specs inputs, const Attributes& attributes) {
  return {pointwise_output("cast", inputs, attributes.as<CastOptions>().dtype)};
}

/// `digits`: of the significand, the leading one included; 2^lowest: the smallest normal number.
struct FloatFormat {
  int digits, lowest;
};

/// The number of a format nearest to x, ties to the even one. Scaling by powers of two is exact.
double nearest(double x, FloatFormat format) {
  if (x == 0 || !std::isfinite(x)) return x;
  const int last_bit = std::max(std::ilogb(x), format.lowest) + 1 - format.digits;
  const double y = std::ldexp(std::nearbyint(std::ldexp(x, -last_bit)), last_bit);
  const bool overflows = std::fabs(y) >= std::ldexp(1.0, 2 - format.lowest);
  return overflows ? std::copysign(std::numeric_limits<double>::infinity(), x) : y;
}

/// What an element becomes when it is stored as `dtype` and read back; nothing of it is what variants call.
double through(double value, DType dtype) {
  switch (dtype) {
    case DType::f64:
      return value;
    case DType::f32:
      return nearest(value, {24, -126});
    case DType::f16:
      return nearest(value, {11, -14});
    case DType::bf16:
      return nearest(value, {8, -126});
    case DType::boolean:
      return value != 0;
    default:
      return std::trunc(value);
  }
}

std::vector<ReferenceTensor> reference(ReferenceInputs inputs, const Attributes& attributes) {
  ReferenceTensor y = inputs[0];
  for (double& value : y.values) value = through(value, attributes.as<CastOptions>().dtype);
  return {y};
}

std::vector<Tensor> gradient(const GradientContext& context) {
  return {cast(context.upstream(), context.input_spec(0).dtype)};
}

ErrorModel error_model(Specs, const Attributes&) { return {ErrorModel::exact, 0}; }

std::vector<TestCase> cases() {
  std::vector<TestCase> list;
  for (DType dtype : kAllDTypes) {
    // Finite differences cannot see through the rounding of a narrower type.
    bool differentiable = dtype == DType::f64;
    auto add = [&](const std::string& label, const Shape& shape, TestLayout layout) {
      TestInput x{shape, {TestFill::integers, 0, 3}, layout};
      x.differentiable = differentiable;
      list.push_back(
          {fmt::format("to {}{}", name_of(dtype), label), {x}, Attributes::of(CastOptions{dtype})});
    };
    add("", {5, 203}, TestLayout::contiguous);
    add(" transposed", {5, 7, 3}, TestLayout::transposed);
    TestInput fractions{{1201}, {TestFill::uniform, 0, 127}}, small{{7, 59}, {TestFill::with_subnormal}};
    fractions.differentiable = small.differentiable = false;
    const Attributes options = Attributes::of(CastOptions{dtype});
    list.push_back({fmt::format("to {} fractions", name_of(dtype)), {fractions}, options});
    if (is_floating(dtype) || dtype == DType::boolean)
      list.push_back({fmt::format("to {} subnormal", name_of(dtype)), {small}, options});
  }
  return list;
}

}  // namespace

namespace ops {

void register_cast(Registry& registry) {
  registry.add({.name = "cast",
                .summary = "y = x as another dtype",
                .options = &schema_of<CastOptions>(),
                .dtypes = kEveryDType,
                .infer = infer,
                .reference = reference,
                .rows = rows_of_first,
                .gradient = gradient,
                .cases = cases,
                .error = error_model,
                .operations = for_each_output(1)});
  registry.set_cast(cast, convert);
}

}  // namespace ops

const Op& cast_op() {
  static const Op& op = op_named("cast");
  return op;
}

Tensor cast(const Tensor& x, DType dtype) {
  require_defined("cast", x);
  return x.dtype() == dtype ? x : apply(cast_op(), {x}, Attributes::of(CastOptions{dtype}))[0];
}

}  // namespace treadle
