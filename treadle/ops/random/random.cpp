#include "treadle/ops/random/random.h"

#include <cmath>
#include <memory>

#include "treadle/core/error.h"
#include "treadle/graph/cost.h"
#include "treadle/graph/recording.h"
#include "treadle/graph/registry.h"
#include "treadle/graph/require_defined.h"
#include "treadle/ops/random/random_position.h"

namespace treadle {
namespace {

std::vector<TensorSpec> infer(Specs inputs, const Attributes&) {
  if (inputs.size() > 1) require_position(inputs[1]);
  return {inputs[0]};
}

double value_of(const Uniform& f, const PhiloxBlock& block, int lane) {
  return f.low + double(block.lanes[lane] >> 8) / 16777216 * (f.high - f.low);
}

/// In long double, since sine and cosine near their zeros magnify the rounding of the angle.
double value_of(const Normal& f, const PhiloxBlock& block, int lane) {
  const int pair = lane / 2 * 2;
  long double radius = std::sqrt(-2 * std::log((long double)((block.lanes[pair] >> 8) + 1) / 16777216));
  long double angle = 2 * 3.14159265358979323846264338328L * (block.lanes[pair + 1] >> 8) / 16777216;
  return double(f.mean + f.deviation * radius * (lane % 2 ? std::sin(angle) : std::cos(angle)));
}

double value_of(const Bernoulli& f, const PhiloxBlock& block, int lane) {
  return double(block.lanes[lane] >> 8) / 16777216 < f.probability ? f.value : 0;
}

template <class F>
std::vector<ReferenceTensor> reference(ReferenceInputs inputs, const Attributes& attributes) {
  F f = attributes.as<F>();
  if (inputs.size() > 1) f.read(inputs[1].values.data(), 1);
  ReferenceTensor y = inputs[0];
  for (size_t i = 0; i < y.values.size(); ++i)
    y.values[i] = value_of(f, philox_block(uint64_t(f.seed), uint64_t(f.offset) + i / 4), int(i % 4));
  return {y};
}

template <class F>
F at(F f, int64_t seed, int64_t offset) {
  f.seed = seed;
  f.offset = offset;
  return f;
}

/// Inputs hold a constant as large as the values' scale: errors are measured against it.
template <class F>
std::vector<TestCase> cases_of(const F& first, const F& second, double scale) {
  auto one = [&](const char* label, Shape shape, const F& f, TestLayout layout = TestLayout::contiguous) {
    return TestCase{label, {{shape, {TestFill::constant, scale, scale}, layout}}, Attributes::of(f)};
  };
  TestCase from_operand = one("position as operand", {5, 33}, at(first, 1, 2));
  from_operand.inputs.push_back(
      {{kPositionNumbers}, {TestFill::constant, 7}, TestLayout::contiguous, {DType::f64}});
  return {from_operand,
          one("odd", {1027}, at(first, 5, 0)),
          one("one", {1}, at(first, -1, 77)),
          one("rank 0", {}, at(second, 1, 2)),
          one("empty", {0, 4}, at(first, 1, 2)),
          one("far on", {13, 9}, at(second, 0x123456789abcdef, 0xfffffffe)),
          one("transposed", {7, 11}, at(second, 3, 4), TestLayout::transposed),
          one("sliced", {6, 11}, at(second, 3, 4), TestLayout::sliced),
          one("channels_last", {2, 3, 5, 7}, at(first, 3, 4), TestLayout::channels_last)};
}

Uniform uniform_options(double low, double high) {
  Uniform f;
  f.low = low;
  f.high = high;
  return f;
}

Normal normal_options(double mean, double deviation) {
  Normal f;
  f.mean = mean;
  f.deviation = deviation;
  return f;
}

Bernoulli bernoulli_options(double probability, double value = 1) {
  Bernoulli f;
  f.probability = probability, f.value = value;
  return f;
}

std::vector<TestCase> uniform_cases() {
  return cases_of(uniform_options(0, 1), uniform_options(-0.3, 1.7), 2);
}
std::vector<TestCase> normal_cases() { return cases_of(normal_options(0, 1), normal_options(0.5, 2), 1); }
std::vector<TestCase> bernoulli_cases() {
  return cases_of(bernoulli_options(0.5), bernoulli_options(0.9, 3), 1);
}

/// Two roundings at most, of values not larger than the bounds.
ErrorModel uniform_error(Specs, const Attributes&) { return {ErrorModel::largest_input, 3}; }

/// Six ulp of z, whose sine and cosine are relatively accurate; a mean cancels, so that |z| ≤ 5.8 counts.
ErrorModel normal_error(Specs, const Attributes& attributes) {
  const auto& f = attributes.as<Normal>();
  if (f.mean == 0) return {ErrorModel::result, 8};
  return {ErrorModel::largest_input, std::abs(f.mean) + 6 * 8 * f.deviation};
}

template <class F>
void add(Registry& registry, DTypeSet dtypes, double operations, std::vector<TestCase> (*cases)(),
         ErrorModel (*error)(Specs, const Attributes&)) {
  registry.add({.name = F::kName,
                .summary = F::kSummary,
                .options = &schema_of<F>(),
                .dtypes = dtypes,
                .infer = infer,
                .reference = reference<F>,
                .mutates = {0},
                .cases = cases,
                .error = error,
                .operations = for_each_output(operations)});
}

/// Where each replay of a program reads the sequence: it sets numbers of the generator aside, as a call
/// would.
Tensor changing_position(Recording& recording, const Tensor& x) {
  auto offset = std::make_shared<uint64_t>(0);
  recording.before_replay([offset, count = x.numel()] { *offset = default_generator().advance(count); },
                          [offset] { default_generator().set_offset(*offset); }, "");
  return recording.changing_numbers(kPositionNumbers, x.device(), [offset](double* numbers) {
    const uint64_t seed = default_generator().seed();
    numbers[0] = double(seed & 0xffffffff), numbers[1] = double(seed >> 32);
    numbers[2] = double(*offset & 0xffffffff), numbers[3] = double(*offset >> 32);
  });
}

template <class F>
void fill_random(const Op& op, const Tensor& x, F f, Generator& generator) {
  require_defined(F::kName, x);
  const Tensor position = take_position(f, x, generator);
  if (position.defined()) return apply_in_place(op, {x, position}, Attributes::of(f));
  apply_in_place(op, {x}, Attributes::of(f));
}

}  // namespace

void require_position(const TensorSpec& position) {
  require<ShapeError>(position.dtype == DType::f64 && position.shape == Shape{kPositionNumbers},
                      "random: the position is {} {}, expected f64 [{}]", name_of(position.dtype),
                      position.shape, kPositionNumbers);
}

Tensor take_position(RandomPosition& f, const Tensor& x, Generator& generator) {
  Recording* current = recording();
  if (current && &generator == &default_generator()) return changing_position(*current, x);
  f.seed = int64_t(generator.seed());
  f.offset = int64_t(generator.advance(x.numel()));
  return {};
}

namespace ops {

void register_random(Registry& registry) {
  add<Uniform>(registry, kFloating, 3, uniform_cases, uniform_error);
  add<Normal>(registry, kFloating, 8, normal_cases, normal_error);
  add<Bernoulli>(registry, kEveryDType, 1, bernoulli_cases, nullptr);
}

}  // namespace ops

void uniform_(const Tensor& x, double low, double high, Generator& generator) {
  static const Op& op = op_named("uniform");
  require<ValueError>(low <= high && std::isfinite(high - low),
                      "uniform: from {} to {} is no range of finite numbers", low, high);
  fill_random(op, x, uniform_options(low, high), generator);
}

void normal_(const Tensor& x, double mean, double deviation, Generator& generator) {
  static const Op& op = op_named("normal");
  require<ValueError>(deviation >= 0 && std::isfinite(deviation) && std::isfinite(mean),
                      "normal: mean {} and deviation {} must be finite, the deviation not negative", mean,
                      deviation);
  fill_random(op, x, normal_options(mean, deviation), generator);
}

const Op& bernoulli_op() {
  static const Op& op = op_named("bernoulli");
  return op;
}

void bernoulli_(const Tensor& x, double probability, Generator& generator) {
  require<ValueError>(probability >= 0 && probability <= 1, "bernoulli: probability {} is outside [0, 1]",
                      probability);
  fill_random(bernoulli_op(), x, bernoulli_options(probability), generator);
}

Tensor rand(const Shape& shape, DType dtype, Device device, Generator& generator) {
  Tensor x = Tensor::empty(shape, dtype, device);
  uniform_(x, 0, 1, generator);
  return x;
}

Tensor randn(const Shape& shape, DType dtype, Device device, Generator& generator) {
  Tensor x = Tensor::empty(shape, dtype, device);
  normal_(x, 0, 1, generator);
  return x;
}

}  // namespace treadle
