/// What a pointwise op declares, from its function: see pointwise_function.h.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "treadle/graph/cost.h"
#include "treadle/graph/registry.h"
#include "treadle/ops/pointwise/expression.h"
#include "treadle/ops/pointwise/pointwise_chain.h"
#include "treadle/ops/pointwise/pointwise_function.h"

namespace treadle::pointwise {

/// Where tests draw operands from.
struct Range {
  double low, high;
};

/// Operands of one dtype, broadcast. Throws ValueError unless there are `operands` of them.
std::vector<TensorSpec> infer(const char* name, int operands, Specs inputs);
/// f of each element's operands, which are broadcast.
ReferenceTensor map(ReferenceInputs inputs, const std::function<double(const double*)>& f);
std::vector<TestCase> unary_cases(Range range, const Attributes& attributes);
std::vector<TestCase> binary_cases(Range range, const Attributes& attributes);
std::vector<TestCase> comparison_cases(const Attributes& attributes);
std::vector<BenchCase> bench_cases(DeviceKind device, int operands, const Attributes& attributes);
/// Integers and bool as f32. Throws ValueError naming the op when x is undefined.
Tensor as_floating(const std::string& op, const Tensor& x);

template <class F>
const F& function_of(const Attributes& attributes) {
  static const F defaults{};
  return attributes ? attributes.as<F>() : defaults;
}

template <class F>
std::vector<TensorSpec> infer(Specs inputs, const Attributes&) {
  return infer(F::kName, F::kOperands, inputs);
}

template <class F>
std::vector<TensorSpec> infer_comparison(Specs inputs, const Attributes&) {
  TensorSpec y = infer(F::kName, F::kOperands, inputs)[0];
  y.dtype = DType::boolean;
  return {y};
}

template <class F>
std::vector<ReferenceTensor> reference(ReferenceInputs inputs, const Attributes& attributes) {
  const F& f = function_of<F>(attributes);
  return {map(inputs, [&](const double* x) {
    if constexpr (F::kOperands == 1)
      return f.reference(x[0]);
    else
      return f.reference(x[0], x[1]);
  })};
}

template <class F>
std::vector<TestCase> cases() {
  const Range range{F::kLow, F::kHigh};
  const Attributes attributes = Attributes::of(F{});
  return F::kOperands == 1 ? unary_cases(range, attributes) : binary_cases(range, attributes);
}

/// Those of a gradient op: along what is saved only where that changes the derivative.
template <class F>
std::vector<TestCase> gradient_cases() {
  std::vector<TestCase> list = cases<GradientOf<F>>();
  for (TestCase& one : list) one.inputs[0].differentiable &= !F::kPiecewiseLinear;
  return list;
}

template <class F>
std::vector<TestCase> comparison_cases() {
  return comparison_cases(Attributes::of(F{}));
}

template <class F>
ErrorModel error(Specs, const Attributes&) {
  return {ErrorModel::largest_input, F::kTerms};
}

template <class F>
std::vector<BenchCase> bench_cases(DeviceKind device) {
  return bench_cases(device, F::kOperands, F::kOperands == 1 ? Attributes::of(F{}) : Attributes{});
}

template <class F>
std::string gradient_name() {
  return std::string(F::kName) + "_gradient";
}

template <class F>
std::vector<Tensor> unary_gradient(const GradientContext& context) {
  static const Op& op = op_named(gradient_name<F>());
  const Tensor saved = F::kSavesOutput ? context.output(0) : context.input(0);
  return apply(op, {saved, context.upstream()},
               Attributes::of(GradientOf<F>(function_of<F>(context.attributes()))));
}

/// The op of a unary function and that of its gradient.
template <class F>
void declare_unary(Registry& registry) {
  registry.add({.name = F::kName,
                .summary = F::kSummary,
                .options = &schema_of<F>(),
                .dtypes = F::kIntegers ? kNumeric : kFloating,
                .infer = infer<F>,
                .reference = reference<F>,
                .rows = rows_of_broadcast,
                .gradient = unary_gradient<F>,
                .saves = {{F::kSavesOutput ? Saved::output : Saved::input, 0}},
                .cases = cases<F>,
                .error = error<F>,
                .operations = for_each_output(1),
                .bench_cases = bench_cases<F>,
                .never_negative = [](const Attributes&) { return F::kNeverNegative; }});
  using Gradient = GradientOf<F>;
  registry.add({.name = gradient_name<F>(),
                .summary = std::string("dx of ") + F::kName + " from what it saves and dy",
                .options = &schema_of<Gradient>(),
                .infer = infer<Gradient>,
                .reference = reference<Gradient>,
                .gradient =
                    [](const GradientContext& context) {
                      return gradient_of_gradient(
                          static_cast<const F&>(function_of<Gradient>(context.attributes())), context);
                    },
                .saves = {{Saved::input, 0}, {Saved::input, 1}},
                .cases = gradient_cases<F>,
                .error = error<Gradient>,
                .operations = for_each_output(2)});
  add_to_chains(registry, F::kName);
  add_to_chains(registry, gradient_name<F>());
}

using GradientRule = std::vector<Tensor> (*)(const GradientContext&);

template <class F>
void declare_binary(Registry& registry, GradientRule gradient, std::vector<Saved> saves) {
  registry.add({.name = F::kName,
                .summary = F::kSummary,
                .dtypes = F::kIntegers ? kNumeric : kFloating,
                .infer = infer<F>,
                .reference = reference<F>,
                .rows = rows_of_broadcast,
                .gradient = gradient,
                .saves = std::move(saves),
                .cases = cases<F>,
                .error = error<F>,
                .operations = for_each_output(1),
                .bench_cases = bench_cases<F>});
  add_to_chains(registry, F::kName);
}

template <class F>
void declare_comparison(Registry& registry) {
  registry.add({.name = F::kName,
                .summary = F::kSummary,
                .dtypes = kEveryDType,
                .infer = infer_comparison<F>,
                .reference = reference<F>,
                .rows = rows_of_broadcast,
                .cases = comparison_cases<F>,
                .operations = for_each_output(1)});
  add_to_chains(registry, F::kName);
}

/// The typed function of a unary op.
template <class F>
Tensor apply_unary(const Op& op, const Tensor& x, const F& f) {
  return apply(op, {F::kIntegersAsFloat ? as_floating(op.name, x) : x}, Attributes::of(f))[0];
}

}  // namespace treadle::pointwise
