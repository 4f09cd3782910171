#include "treadle/ops/norm/declaration/batch_norm_cases.h"

#include "treadle/core/error.h"

namespace treadle {
namespace {

void set(TestCase& test_case, int operand, bool defined) {
  if (operand >= 0) test_case.inputs[size_t(operand)].defined = defined;
}

}  // namespace

ReferenceTensor normalized(ReferenceInputs inputs, const ReferenceTensor& mean,
                           const ReferenceTensor& variance, size_t w, const BatchNormOptions& options) {
  ReferenceTensor y = inputs[0];
  for_each_element(y.shape, [&](size_t i, size_t c) {
    double& value = y.values[i];
    value = (value - mean.values[c]) / std::sqrt(variance.values[c] + options.epsilon);
    value = value * value_of(inputs, w, c, 1) + value_of(inputs, w + 1, c, 0) + value_of(inputs, w + 2, i, 0);
    if (options.relu && value < 0) value = 0;  // NaN stays
  });
  return y;
}

void require_residual(const char* op, Specs inputs, size_t i, const Shape& x) {
  if (i < inputs.size() && inputs[i].defined)
    require<ShapeError>(inputs[i].shape == x, "{}: residual has shape {}, x {}", op, inputs[i].shape, x);
}

std::vector<TestCase> BatchNormCases::all() const {
  using enum TestLayout;
  const BatchNormOptions plain, relu{1e-5, true};
  auto with = [&](TestCase test_case) { return set(test_case, residual, true), test_case; };
  auto without = [&](TestCase test_case, std::initializer_list<int> operands) {
    for (int operand : operands) set(test_case, operand, false);
    return test_case;
  };
  return {
      one("image", {3, 6, 3, 5}, plain, contiguous),
      one("ReLU", {3, 6, 3, 5}, relu, contiguous),
      with(one("residual", {3, 4, 3, 5}, plain, contiguous)),
      with(one("residual, ReLU", {3, 4, 3, 5}, relu, contiguous)),
      one("channels_last", {3, 6, 4, 5}, plain, channels_last),
      one("channels_last, ReLU", {3, 17, 4, 3}, relu, channels_last),
      with(one("channels_last, residual, ReLU", {3, 35, 4, 3}, relu, channels_last)),
      with(one("channels_last, residual", {3, 67, 1, 3}, plain, channels_last)),
      one("no spatial axes", {5, 12}, plain, contiguous),
      one("no spatial axes, ReLU", {7, 33}, relu, contiguous),
      one("one spatial axis", {3, 6, 7}, plain, contiguous),
      one("three spatial axes", {3, 4, 3, 5, 3}, plain, contiguous),
      one("eight axes", {3, 4, 1, 3, 1, 3, 1, 1}, plain, contiguous),
      one("one channel", {3, 1, 4, 5}, plain, contiguous),
      without(one("no weight", {3, 6, 3, 5}, plain, contiguous), {weight}),
      without(one("no bias", {3, 6, 3, 5}, plain, contiguous), {bias}),
      without(one("no weight, no bias", {3, 6, 3, 5}, plain, contiguous), {weight, bias}),
      without(one("no weight, no bias, channels_last", {3, 6, 4, 5}, plain, channels_last), {weight, bias}),
      one("large epsilon", {3, 6, 7}, {0.5}, contiguous),
      one("infinite epsilon", {3, 6, 7}, {INFINITY}, contiguous),
      one("long rows", {3, 2, 23, 29}, plain, contiguous),
      one("many rows", {700, 3}, plain, contiguous),
      one("many rows of vectors", {60, 37, 4, 3}, relu, channels_last),
      with(one("several threads", {13, 8, 9, 7}, relu, contiguous)),
      with(one("transposed", {4, 6, 5}, relu, transposed)),
      one("sliced", {4, 6, 5}, plain, sliced),
      one("expanded", {4, 6, 5}, plain, expanded),
      one("no images", {0, 6, 4}, plain, contiguous),
      one("no channels", {3, 0, 4}, plain, contiguous),
      one("no places", {3, 6, 0, 4}, plain, contiguous)};
}

}  // namespace treadle
