/// What every op declares of itself.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>

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

/// What benches time is a call that the op takes.
TEST(Declarations, BenchCasesAreTaken) {
  for (const Op* op : registry().ops()) {
    if (!op->bench_cases) continue;
    const DType dtype = op->dtypes.contains(DType::f32) ? DType::f32 : DType::i64;
    for (const BenchCase& sized : op->bench_cases(DeviceKind::cpu)) {
      std::vector<TensorSpec> specs;
      for (const Shape& shape : sized.inputs) {
        const bool optional = std::ranges::count(op->optional, int(specs.size())) > 0;
        specs.push_back(optional && shape.rank() == 0 ? TensorSpec::of(Tensor())
                                                      : TensorSpec::of(shape, dtype));
      }
      EXPECT_NO_THROW(op->infer(Specs(specs), sized.attributes)) << op->name << ' ' << sized.label;
    }
  }
}

/// Only gradients and ops with marks speak of marks, and of operands that they have.
TEST(Declarations, MarksAndMaskedOperands) {
  for (const Op* op : registry().ops()) {
    EXPECT_EQ(op->masked.gradient < 0, op->masked.mask < 0) << op->name;
    EXPECT_TRUE(op->masked.gradient < 0 || op->masked.gradient != op->masked.mask) << op->name;
  }
}

/// The form of an op that takes every call, of which a device has one at most.
bool is_general(const Variant& variant) {
  return variant.engine == Engine::own && !variant.when && variant.preference <= 0;
}

std::string_view general_name(DeviceKind device) { return device == DeviceKind::cpu ? "loop" : "naive"; }

TEST(Declarations, GeneralFormsHaveOneName) {
  for (const Op* op : registry().ops())
    for (const Variant& variant : op->variants)
      EXPECT_EQ(is_general(variant), variant.name == general_name(variant.device))
          << op->name << ", " << name_of(variant.device) << ": " << variant.name;
}

/// Each rung says its idea, and only rungs do. A ladder is one of kernels, begins with the general form, and
/// has no step missing.
TEST(Declarations, LaddersBeginWithTheGeneralFormAndAreWhole) {
  for (const Op* op : registry().ops()) {
    std::set<int> rungs;
    for (const Variant& variant : op->variants) {
      EXPECT_EQ(variant.rung > 0, variant.idea[0] != '\0') << op->name << ": " << variant.name;
      if (variant.rung == 0) continue;
      EXPECT_NE(variant.device, DeviceKind::cpu) << op->name << ": " << variant.name;
      EXPECT_EQ(variant.rung == 1, is_general(variant)) << op->name << ": " << variant.name;
      rungs.insert(variant.rung);
    }
    const int highest = rungs.empty() ? 0 : *rungs.rbegin();
    EXPECT_EQ(highest, int(rungs.size())) << op->name;
  }
}

/// What runs on one device runs on all: by a general form or as a composition.
TEST(Declarations, EveryOpRunsOnCpuAndSimt) {
  for (const Op* op : registry().ops()) {
    if (op->direct) continue;
    for (DeviceKind device : {DeviceKind::cpu, DeviceKind::simt}) {
      auto takes_all = [&](const Variant& variant) { return variant.device == device && !variant.when; };
      EXPECT_TRUE(std::any_of(op->variants.begin(), op->variants.end(), takes_all))
          << op->name << " on " << name_of(device);
    }
  }
}

TEST(Declarations, CompositionsAreVariantsOfEveryDevice) {
  for (const Op* op : registry().ops())
    for (const DeviceName& device : kDeviceNames) {
      auto is_composed = [&](const Variant& variant) {
        return variant.device == device.kind && variant.name == std::string_view("composed");
      };
      EXPECT_EQ(std::count_if(op->variants.begin(), op->variants.end(), is_composed), op->compose ? 1 : 0)
          << op->name << " on " << device.name;
    }
}

}  // namespace
}  // namespace treadle
