/// What every op declares of itself.
#include <gtest/gtest.h>

#include <cmath>

#include "treadle/core/error.h"
#include "treadle/graph/cost.h"
#include "treadle/graph/registry.h"

namespace treadle {
namespace {

/// Operands of a test case, row-major and without memory.
std::vector<TensorSpec> specs_of(const Op& op, const TestCase& test_case) {
  std::vector<TensorSpec> specs;
  for (const TestInput& input : test_case.inputs) {
    const DType tested = op.dtypes.contains(DType::f32) ? DType::f32 : DType::i64;
    specs.push_back(TensorSpec::of(input.shape, input.dtype.empty() ? tested : input.dtype[0]));
    specs.back().defined = input.defined;
  }
  return specs;
}

std::vector<TensorView> views_of(const std::vector<TensorSpec>& specs) {
  static char memory;  // never read: an operand without an address counts as left out
  std::vector<TensorView> views;
  for (const TensorSpec& spec : specs)
    views.push_back(spec.defined ? TensorView{&memory, spec.dtype, spec.shape, spec.strides} : TensorView{});
  return views;
}

double operations_of(const Op& op, const TestCase& test_case) {
  const auto inputs = specs_of(op, test_case);
  const auto from = views_of(inputs), to = views_of(op.infer(inputs, test_case.attributes));
  return op.operations(Call{from, to, test_case.attributes});
}

TEST(Declarations, EveryOpSaysWhatItCosts) {
  for (const Op* op : registry().ops()) {
    if (op->direct) continue;
    ASSERT_TRUE(op->operations) << op->name;
    for (const TestCase& test_case : op->cases()) {
      const double count = operations_of(*op, test_case);
      EXPECT_TRUE(std::isfinite(count) && count >= 0)
          << op->name << " [" << test_case.label << "]: " << count;
    }
  }
}

/// Two for each product with its sum.
TEST(Declarations, OperationsOfProducts) {
  auto cost = [](const char* name, std::vector<Shape> shapes, double wanted) {
    const Op& op = op_named(name);
    TestCase test_case{"", {}, op.options ? op.options->make({}) : Attributes()};
    for (const Shape& shape : shapes) test_case.inputs.push_back({shape});
    EXPECT_EQ(operations_of(op, test_case), wanted) << name;
  };
  cost("matmul", {{7, 2, 3}, {7, 3, 5}}, 2 * 7 * 2 * 3 * 5);
  cost("matmul", {{7, 2, 3}, {3, 5}}, 2 * 7 * 2 * 3 * 5);
  cost("linear", {{2, 3}, {5, 3}, {5}}, 2 * 2 * 3 * 5);
  cost("linear_weight_gradient", {{2, 3}, {2, 5}}, 2 * 2 * 3 * 5);
  cost("conv2d", {{2, 3, 6, 5}, {4, 3, 3, 2}}, 2 * (2 * 4 * 4 * 4) * (3 * 3 * 2));
  cost("conv2d_max_pool2d", {{2, 3, 6, 5}, {4, 3, 3, 2}}, 2 * (2 * 4 * 4 * 4) * (3 * 3 * 2));
}

/// Only gradients and ops with marks speak of marks, and of operands that they have.
TEST(Declarations, MarksAndMaskedOperands) {
  for (const Op* op : registry().ops()) {
    EXPECT_EQ(op->masked.gradient < 0, op->masked.mask < 0) << op->name;
    EXPECT_TRUE(op->masked.gradient < 0 || op->masked.gradient != op->masked.mask) << op->name;
  }
}

}  // namespace
}  // namespace treadle
