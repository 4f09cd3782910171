#include "treadle/ops/random/dropout.h"

#include <cmath>

#include "treadle/core/error.h"
#include "treadle/graph/cost.h"
#include "treadle/graph/registry.h"
#include "treadle/graph/require_defined.h"
#include "treadle/ops/layout/declaration/convert.h"
#include "treadle/ops/pointwise/pointwise.h"
#include "treadle/ops/pointwise/pointwise_layout.h"
#include "treadle/ops/random/random.h"
#include "treadle/ops/random/random_position.h"

namespace treadle {
namespace {

struct DropoutOptions : RandomPosition {
  double probability = 0.5;
  template <class Field>
  static void describe(Field& field) {
    field("probability", &DropoutOptions::probability, "chance of an element to become 0");
    field("seed", &DropoutOptions::seed, "seed of the sequence");
    field("offset", &DropoutOptions::offset, "position in the sequence");
  }
  /// What those that stay are multiplied by.
  double scale() const { return probability < 1 ? 1 / (1 - probability) : 0; }
};

/// Operand 1, where given, is the position in the sequence.
std::vector<TensorSpec> infer(Specs inputs, const Attributes& attributes) {
  const double probability = attributes.as<DropoutOptions>().probability;
  require<ValueError>(probability >= 0 && probability <= 1, "dropout: probability {} is outside [0, 1]",
                      probability);
  if (inputs.size() > 1 && inputs[1].defined) require_position(inputs[1]);
  return {pointwise_output("dropout", inputs.first(1), inputs[0].dtype)};
}

std::vector<ReferenceTensor> reference(ReferenceInputs inputs, const Attributes& attributes) {
  DropoutOptions options = attributes.as<DropoutOptions>();
  if (inputs.size() > 1 && inputs[1].defined) options.read(inputs[1].values.data(), 1);
  ReferenceTensor y = inputs[0];
  for (size_t i = 0; i < y.values.size(); ++i) {
    const double u = double(options.block(int64_t(i) / 4).lanes[i % 4] >> 8) / 16777216;
    y.values[i] = u < 1 - options.probability ? y.values[i] * options.scale() : 0;
  }
  return {y};
}

std::vector<Tensor> gradient(const GradientContext& context) {
  static const Op& op = op_named("dropout");
  return {apply(op, {context.upstream(), context.input(1)}, context.attributes())[0]};
}

/// What x is multiplied by is made row-major: its numbers are cheapest in that order. Half types are computed
/// in f32 and rounded once.
void compose(const Composition& call) {
  const auto& options = call.options<DropoutOptions>();
  Bernoulli stays;
  static_cast<RandomPosition&>(stays) = options;
  stays.probability = 1 - options.probability, stays.value = options.scale();
  const TensorView& y = call.output();
  const TensorView factors = call.scratch(y.shape, wide_dtype(y.dtype));
  const auto attributes = Attributes::of(stays);
  if (call.has_input(1))
    call.run(bernoulli_op(), {factors, call.input(1)}, {factors}, attributes);
  else
    call.run(bernoulli_op(), {factors}, {factors}, attributes);
  if (y.dtype == factors.dtype) return call.run(mul_op(), {call.input(0), factors}, {y});
  call.run(mul_op(), {row_major(call, call.input(0), factors.dtype), factors}, {factors});
  convert(call, factors, y);
}

TestCase one(const char* label, const Shape& x, double probability,
             TestLayout layout = TestLayout::contiguous) {
  DropoutOptions options;
  options.probability = probability, options.seed = 3, options.offset = 0xfffffffe;
  return {label, {{x, {}, layout}}, Attributes::of(options)};
}

std::vector<TestCase> cases() {
  using enum TestLayout;
  TestCase from_operand = one("position as operand", {5, 33}, 0.5), dropped = one("all", {5, 7}, 1);
  from_operand.inputs.push_back(
      {{kPositionNumbers}, {TestFill::constant, 7}, contiguous, {DType::f64}, true, false});
  dropped.inputs[0].differentiable = false;
  TestCase left_out = one("position left out", {5, 33}, 0.5);
  left_out.inputs.push_back({.shape = {}, .defined = false});
  return {from_operand,
          left_out,
          dropped,
          one("half", {3, 345}, 0.5),
          one("few", {11, 31}, 0.1),
          one("none", {4, 7}, 0),
          one("empty", {0, 4}, 0.5),
          one("transposed", {7, 11}, 0.3, transposed),
          one("sliced", {6, 11}, 0.3, sliced),
          one("channels_last", {2, 3, 5, 7}, 0.3, channels_last)};
}

std::vector<RefusedCall> refused_calls() {
  auto with = [](double probability) {
    DropoutOptions options;
    options.probability = probability;
    return Attributes::of(options);
  };
  const TestInput x{{2, 3}};
  return {refuses<ValueError>({x}, {"probability -0.1"}, with(-0.1)),
          refuses<ValueError>({x}, {"probability 1.5"}, with(1.5)),
          refuses<ValueError>({x}, {"probability nan"}, with(NAN)),
          refuses<ShapeError>({x, {.shape = {3}, .dtype = {DType::f64}}}, {"position", "[3]", "[4]"})};
}

}  // namespace

namespace ops {

void register_dropout(Registry& registry) {
  registry.add({.name = "dropout",
                .summary = "y = x / (1 - probability), but 0 with that probability",
                .options = &schema_of<DropoutOptions>(),
                .optional = {1},
                .infer = infer,
                .reference = reference,
                .gradient = gradient,
                .saves = {{Saved::input, 1}},
                .compose = compose,
                .cases = cases,
                .refused_calls = refused_calls,
                .operations = for_each_output(2)});
}

}  // namespace ops

Tensor dropout(const Tensor& x, double probability, Generator& generator) {
  static const Op& op = op_named("dropout");
  require_defined("dropout", x, 1);
  DropoutOptions options;
  options.probability = probability;
  const Tensor position = take_position(options, x, generator);
  return apply(op, {x, position}, Attributes::of(options))[0];
}

}  // namespace treadle
