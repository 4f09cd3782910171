/// What every op declares of itself.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/call_without_memory.h"
#include "treadle/graph/registry.h"

namespace treadle {
namespace {

double operations_of(const Op& op, const TestCase& test_case) {
  const DType tested = op.dtypes.contains(DType::f32) ? DType::f32 : DType::i64;
  return op.operations(CallWithoutMemory(op, test_case, tested).at(1 << 20));
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
