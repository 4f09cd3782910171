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
ReferenceTensor normalized(ReferenceInputs inputs, const ReferenceTensor& mean,
                           const ReferenceTensor& variance, size_t w, const BatchNormOptions& options);

void require_residual(const char* op, Specs inputs, size_t i, const Shape& x);

/// Calls of an op that normalises x [N, C, …]: shapes, layouts, options, operands that are left out.
struct BatchNormCases {
  /// One with weight and bias, without a residual. ReLU always has a bias: x may be the mean itself, where y
  /// is 0, the bend, without one.
  std::function<TestCase(const char* label, const Shape& x, const BatchNormOptions& options,
                         TestLayout layout)>
      one;

  /// Their numbers among the operands; -1: the op has none.
  int weight, bias, residual;

  std::vector<TestCase> all() const;
};

}  // namespace treadle
