/// What an op declares for tests and benches: calls of it, how their operands are filled and laid out, and
/// how far a variant's results may be off.
#pragma once

#include <cstdint>
#include <string>
#include <typeinfo>
#include <utility>
#include <vector>

#include "treadle/core/dtype.h"
#include "treadle/core/shape.h"
#include "treadle/graph/attributes.h"

namespace treadle {

/// A row-major array of doubles: what references compute on.
struct ReferenceTensor {
  Shape shape;
  std::vector<double> values;
  bool defined = true;

  static ReferenceTensor zeros(const Shape& shape) {
    return {shape, std::vector<double>(size_t(shape.numel()))};
  }
};
using ReferenceInputs = std::span<const ReferenceTensor>;

/// How a test fills an input.
struct TestFill {
  enum Kind {
    apart,  ///< distinct values spread over [low, high], in seeded random order, never a multiple of the step
    uniform,        ///< seeded uniform in [low, high)
    integers,       ///< seeded integers in [low, high]
    constant,       ///< low
    with_nan,       ///< as uniform, with a few NaN
    with_infinity,  ///< as uniform, with a few infinities of both signs
    with_subnormal  ///< as uniform, some below the smallest normal number of the dtype
  } kind = apart;
  double low = -2, high = 2;
};

/// How a test lays an input out in memory.
enum class TestLayout : uint8_t { contiguous, channels_last, transposed, sliced, expanded };

struct TestInput {
  Shape shape;
  TestFill fill = {};
  TestLayout layout = TestLayout::contiguous;
  /// A fixed dtype (labels, conditions); others take the dtype under test.
  std::vector<DType> dtype = {};
  bool defined = true;
  /// Whether finite differences are taken along it.
  bool differentiable = true;
};

struct TestCase {
  std::string label;
  std::vector<TestInput> inputs;
  Attributes attributes = {};
};

/// A call that an op refuses: by exactly which exception, and with what in its message.
struct RefusedCall {
  std::vector<TestInput> inputs;
  std::vector<std::string> says;
  Attributes attributes;  ///< empty: the op's defaults
  const std::type_info* error;
};

/// `refuses<ShapeError>({x, {{2}}}, {"[2]", "[2, 3]"})`
template <class E>
RefusedCall refuses(std::vector<TestInput> inputs, std::vector<std::string> says,
                    Attributes attributes = {}) {
  return {std::move(inputs), std::move(says), std::move(attributes), &typeid(E)};
}

/// A call of a size that matters in practice: what benches time.
struct BenchCase {
  std::string label;
  std::vector<Shape> inputs;  ///< rank 0 for an optional one that is left out
  Attributes attributes = {};
  /// Whether images, but not filters, lie channels-last.
  bool channels_last = false;
};

/// How rounding errors of a variant are bounded against the reference. Where subnormal numbers are flushed,
/// each rounding may be off by the smallest normal number too, and a subnormal input counts as any number
/// between itself and zero.
struct ErrorModel {
  enum Scale {
    result,           ///< |result|
    absolute_inputs,  ///< the reference on the inputs' absolute values: sums of products
    largest_input,    ///< the largest |input| (cancellation inside a formula)
    exact             ///< none: the reference rounds as the variants do
  } scale = result;
  /// Roundings per result: the length of its sum, or the ulps of its formula.
  double terms = 2;
  /// Those of the outputs from number 1 on, where they differ from the first one's.
  std::vector<double> further_terms = {};

  double terms_of(size_t output) const {
    return output == 0 || further_terms.empty() ? terms : further_terms.at(output - 1);
  }
};

}  // namespace treadle
