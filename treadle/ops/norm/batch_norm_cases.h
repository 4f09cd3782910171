/// What the declarations of batch normalisation's ops share for tests: references, and which calls are tried.
#pragma once

#include <cmath>
#include <functional>
#include <vector>

#include "treadle/graph/op.h"
#include "treadle/ops/norm/batch_norm_options.h"
#include "treadle/ops/norm/channels.h"

namespace treadle {

/// Calls visit(element, channel) for x [N, C, …].
template <class Visit>
void for_each_element(const Shape& x, Visit visit) {
  const size_t C = size_t(x[1]), places = size_t(places_of(x)), count = size_t(x.numel());
  for (size_t i = 0; i < count; ++i) visit(i, i / places % C);
}

/// Element c of an operand that may be left out.
inline double value_of(ReferenceInputs inputs, size_t input, size_t c, double otherwise) {
  return input < inputs.size() && inputs[input].defined ? inputs[input].values[c] : otherwise;
}

/// (x - mean) / √(variance + ε) · w + b + residual, then ReLU, with the operands from number `w` on.
inline ReferenceTensor normalized(ReferenceInputs inputs, const ReferenceTensor& mean,
                                  const ReferenceTensor& variance, size_t w,
                                  const BatchNormOptions& options) {
  ReferenceTensor y = inputs[0];
  for_each_element(y.shape, [&](size_t i, size_t c) {
    double& value = y.values[i];
    value = (value - mean.values[c]) / std::sqrt(variance.values[c] + options.epsilon);
    value = value * value_of(inputs, w, c, 1) + value_of(inputs, w + 1, c, 0) + value_of(inputs, w + 2, i, 0);
    if (options.relu && value < 0) value = 0;  // NaN stays
  });
  return y;
}

inline void require_residual(const char* op, Specs inputs, size_t i, const Shape& x) {
  if (i < inputs.size() && inputs[i].defined)
    require<ShapeError>(inputs[i].shape == x, "{}: residual has shape {}, x {}", op, inputs[i].shape, x);
}

/// Calls of an op that normalises x [N, C, …]: shapes, layouts, options, operands that are left out.
struct BatchNormCases {
  /// One with weight and bias, without a residual. ReLU always has a bias: x may be the mean itself, where y
  /// is 0, the bend, without one.
  std::function<TestCase(const char* label, const Shape& x, const BatchNormOptions& options,
                         TestLayout layout)>
      one;

  /// Their numbers among the operands; -1: the op has none.
  int weight, bias, residual;

  std::vector<TestCase> all() const {
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

 private:
  static void set(TestCase& test_case, int operand, bool defined) {
    if (operand >= 0) test_case.inputs[size_t(operand)].defined = defined;
  }
};

}  // namespace treadle
