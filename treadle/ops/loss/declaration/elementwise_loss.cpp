#include "treadle/ops/loss/declaration/elementwise_loss.h"

#include <algorithm>

#include "treadle/core/error.h"
#include "treadle/ops/layout/cast.h"
#include "treadle/ops/layout/declaration/convert.h"
#include "treadle/ops/loss/declaration/loss_body.h"
#include "treadle/ops/loss/loss_shape.h"
#include "treadle/ops/pointwise/pointwise.h"
#include "treadle/ops/pointwise/pointwise_chain.h"
#include "treadle/ops/pointwise/pointwise_layout.h"
#include "treadle/ops/reduce/reduce.h"

namespace treadle {
namespace {

std::vector<TensorSpec> infer(const ElementwiseLoss& loss, Specs inputs, const Attributes& attributes) {
  require_same_dtype(loss.name, inputs);
  loss.check(attributes);
  const Shape& x = inputs[0].shape;
  require<ShapeError>(x == inputs[1].shape, "{}: x has shape {}, target {}", loss.name, x, inputs[1].shape);
  for (size_t i = 2; i < inputs.size(); ++i)
    require<ShapeError>(!inputs[i].defined || broadcast_shapes(x, inputs[i].shape, loss.name) == x,
                        "{}: {} has shape {}, which does not broadcast to that of x, {}", loss.name,
                        loss.weights[i - 2], inputs[i].shape, x);
  const LossOptions& options = loss.loss_options(attributes);
  const Shape shape = loss_shape(loss.name, x, options, loss.knows_batchmean);
  if (options.keeps_terms()) return {pointwise_output(loss.name, inputs.first(1), inputs[0].dtype)};
  return {TensorSpec::of(shape, inputs[0].dtype)};
}

/// The element of a row-major operand that is broadcast to element i of `shape`.
double broadcast_element(const ReferenceTensor& operand, const Shape& shape, int64_t i) {
  const Strides strides = broadcast_strides(operand.shape, contiguous_strides(operand.shape), shape);
  int64_t offset = 0;
  for (int axis = shape.rank() - 1; axis >= 0; i /= shape[axis--]) offset += i % shape[axis] * strides[axis];
  return operand.values[size_t(offset)];
}

std::vector<ReferenceTensor> reference(const ElementwiseLoss& loss, ReferenceInputs inputs,
                                       const Attributes& attributes) {
  ReferenceTensor terms = ReferenceTensor::zeros(inputs[0].shape);
  std::vector<double> operands(2 + loss.weights.size(), 1);
  for (size_t i = 0; i < terms.values.size(); ++i) {
    for (size_t k = 0; k < inputs.size(); ++k)
      if (inputs[k].defined) operands[k] = broadcast_element(inputs[k], terms.shape, int64_t(i));
    terms.values[i] = loss.reference(operands.data(), attributes);
  }
  return {reduce_loss(terms, loss.loss_options(attributes))};
}

void compose(const ElementwiseLoss& loss, const Composition& call) {
  const TensorView &x = call.input(0), &y = call.output();
  const DType dtype = wide_dtype(y.dtype);
  std::vector<TensorView> operands;
  for (int i = 0; i < 2 + int(loss.weights.size()); ++i)
    operands.push_back(call.has_input(i) ? as_dtype(call, call.input(i), dtype) : number(call, 1, dtype));
  for (double value : loss.numbers(call.attributes())) operands.push_back(number(call, value, dtype));
  const LossOptions& options = loss.loss_options(call.attributes());
  const bool directly = options.keeps_terms() && y.dtype == dtype;
  const TensorView terms = directly ? y : scratch_like(call, x, dtype);
  call.run(pointwise_chain_op(), Operands(operands), {terms}, loss.term(call.attributes()));
  if (!directly) reduce_terms(call, terms, options);
}

/// What each term's sum of gradients is made of: the loss's own terms, as if `weight` were not there.
Tensor unweighted_terms(const ElementwiseLoss& loss, std::vector<Tensor> operands) {
  operands[2] = Tensor();
  return apply(op_named(loss.name), operands, Attributes::of(LossOptions{"none"}))[0];
}

std::vector<Tensor> gradient(const ElementwiseLoss& loss, const GradientContext& context) {
  const DType dtype = context.input_spec(0).dtype;
  TermGradient of{context, {}, cast(context.upstream(), wide_dtype(dtype))};
  for (int i = 0; i < 2 + int(loss.weights.size()); ++i) {
    const Tensor operand = context.input(i);
    of.operands.push_back(operand.defined() ? cast(operand, wide_dtype(dtype)) : operand);
  }
  const double factor =
      loss.gradient_factor / loss.loss_options(context.attributes()).divisor_of(of.x().shape());
  if (factor != 1) of.g = of.g * factor;
  const Tensor before_weight = of.g;
  const bool weighted = of.operands.size() > 2 && of.operands[2].defined();
  if (weighted) of.g = of.g * of.operands[2];
  std::vector<Tensor> gradients = loss.gradient(of);
  if (weighted && context.needs(2)) gradients[2] = unweighted_terms(loss, of.operands) * before_weight;
  for (size_t i = 0; i < gradients.size(); ++i)
    if (gradients[i].defined()) gradients[i] = cast(sum_to(gradients[i], of.operands[i].shape()), dtype);
  return gradients;
}

/// The roundings of a term, and one for each that is added to it; each term's counts where they are added.
ErrorModel error(const ElementwiseLoss& loss, Specs inputs, const Attributes& attributes) {
  const Shape& x = inputs[0].shape;
  const LossOptions& options = loss.loss_options(attributes);
  if (options.keeps_terms()) return {ErrorModel::largest_input, loss.roundings};
  const double count = double(x.numel()), terms = count / std::max(1., options.divisor_of(x));
  return {ErrorModel::largest_input, (loss.roundings + 4 * count) * std::max(1., terms)};
}

double operations(const ElementwiseLoss& loss, const Call& call) {
  const auto steps = loss.term(call.attributes).as<PointwiseChain>().steps().size();
  return double(steps + 1) * double(call.input(0).numel());
}

TestCase case_of(const ElementwiseLoss& loss, const char* label, const Shape& shape, const char* reduction,
                 TestLayout layout = TestLayout::contiguous) {
  TestCase one{label,
               {{shape, loss.x, layout}, {shape, loss.target}},
               loss.options->make({{"reduction", std::string(reduction)}})};
  one.inputs.resize(2 + loss.weights.size(), {.shape = {}, .defined = false});
  return one;
}

std::vector<TestCase> cases(const ElementwiseLoss& loss) {
  auto one = [&](auto... arguments) { return case_of(loss, arguments...); };
  TestCase with_nan = one("NaN", Shape{523}, "none");
  with_nan.inputs[0].fill.kind = TestFill::with_nan;
  with_nan.inputs[0].differentiable = with_nan.inputs[1].differentiable = false;
  std::vector<TestCase> list{one("mean", Shape{9, 15}, "mean"),
                             one("sum", Shape{5, 3}, "sum"),
                             one("none", Shape{7, 5}, "none"),
                             one("long", Shape{4099}, "mean"),
                             one("transposed", Shape{5, 7, 3}, "mean", TestLayout::transposed),
                             one("none, transposed", Shape{5, 7, 3}, "none", TestLayout::transposed),
                             one("channels_last", Shape{2, 3, 4, 5}, "mean", TestLayout::channels_last),
                             one("sliced", Shape{6, 11}, "sum", TestLayout::sliced),
                             one("one", Shape{1}, "mean"),
                             one("rank 0", Shape{}, "mean"),
                             one("empty sum", Shape{0, 3}, "sum"),
                             one("empty none", Shape{0, 3}, "none"),
                             with_nan};
  for (size_t i = 0; i < loss.weights.size(); ++i)
    for (const char* reduction : {"mean", "none"}) {
      TestCase weighted = one(loss.weights[i], Shape{6, 11}, reduction);
      for (size_t k = *reduction == 'n' ? 0 : i; k <= i; ++k)
        weighted.inputs[2 + k] = {{11}, {TestFill::apart, 0.5, 2}};
      list.push_back(weighted);
    }
  for (TestCase& more : loss.more_cases()) list.push_back(std::move(more));
  return list;
}

std::vector<RefusedCall> refused_calls(const ElementwiseLoss& loss) {
  const TestInput x{{2, 3}}, exact{.shape = x.shape, .dtype = {DType::f64}};
  const Attributes unknown = loss.options->make({{"reduction", std::string("median")}});
  std::vector<RefusedCall> list{
      refuses<ValueError>({x, x}, {loss.name, "'median'", "mean sum none"}, unknown),
      refuses<ShapeError>({x, {{3}}}, {loss.name, "[2, 3]", "[3]"}),
      refuses<DTypeError>({x, exact}, {loss.name, "f32", "f64"})};
  for (size_t i = 0; i < loss.weights.size(); ++i) {
    std::vector<TestInput> inputs{x, x};
    for (size_t k = 0; k < i; ++k) inputs.push_back({.shape = {}, .defined = false});
    inputs.push_back({{4, 2, 3}});
    list.push_back(refuses<ShapeError>(inputs, {loss.name, loss.weights[i], "[4, 2, 3]", "[2, 3]"}));
  }
  for (RefusedCall& more : loss.more_refused_calls()) list.push_back(std::move(more));
  return list;
}

}  // namespace

Op elementwise_loss_op(const ElementwiseLoss& loss) {
  Op op{
      .name = loss.name, .summary = loss.summary, .options = loss.options, .autocast = AutocastPolicy::full};
  const int operands = 2 + int(loss.weights.size());
  for (int i = 0; i < operands; ++i) op.saves.push_back({Saved::input, i});
  for (int i = 2; i < operands; ++i) op.optional.push_back(i);
  op.infer = [&](Specs inputs, const Attributes& a) { return infer(loss, inputs, a); };
  op.reference = [&](ReferenceInputs x, const Attributes& a) { return reference(loss, x, a); };
  op.gradient = [&](const GradientContext& context) { return gradient(loss, context); };
  op.compose = [&](const Composition& call) { compose(loss, call); };
  op.cases = [&] { return cases(loss); };
  op.refused_calls = [&] { return refused_calls(loss); };
  op.error = [&](Specs inputs, const Attributes& a) { return error(loss, inputs, a); };
  op.operations = [&](const Call& call) { return operations(loss, call); };
  return op;
}

}  // namespace treadle
