/// Operands that are drawn anew for each timed run: the same share of zeros, at other places, and nothing
/// else changed.
#include "treadle/compile/drawn_operands.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "treadle/compile/variant_choice.h"
#include "treadle/core/split_mix64.h"

namespace treadle {
namespace {

/// An op of five operands, of which the last is updated in place, and one of whose variants skips zeros.
Op skipping_op() {
  Op op;
  op.name = "skipping";
  op.mutates = {4};
  op.variants = {
      {.name = "listed", .device = DeviceKind::cpu, .run = [](const Call&) {}, .skips_zeros = true},
      {.name = "dense", .device = DeviceKind::cpu, .run = [](const Call&) {}}};
  return op;
}

class DrawnOperandsTest : public ::testing::Test {
 protected:
  static constexpr int64_t kRows = 200, kColumns = 100, kCount = kRows * kColumns;

  /// x of which six eighths are zero, marks of the same shape that are 1 where x is not zero, a
  /// weight without zeros, another operand with zeros, and the target of the update, which has some, too.
  DrawnOperandsTest() {
    SplitMix64 random(1);
    for (int64_t i = 0; i < kCount; ++i) {
      const bool zero = random.below(8) < 6;
      x_.push_back(zero ? 0 : 1 + float(i)), marks_.push_back(!zero), weight_.push_back(1 + float(i));
    }
    for (int64_t i = 0; i < kRows; ++i) other_.push_back(float(i % 2)), target_.push_back(float(i % 2));
    const Shape shape{kRows, kColumns}, line{kRows};
    views_ = {{x_.data(), DType::f32, shape, contiguous_strides(shape)},
              {marks_.data(), DType::u8, shape, contiguous_strides(shape)},
              {weight_.data(), DType::f32, {kColumns, kRows}, contiguous_strides({kColumns, kRows})},
              {other_.data(), DType::f32, line, contiguous_strides(line)},
              {target_.data(), DType::f32, line, contiguous_strides(line)}};
  }
  Call call() const { return {views_, {}, attributes_}; }

  std::vector<float> x_, weight_, other_, target_;
  std::vector<uint8_t> marks_;
  std::vector<TensorView> views_;
  const Attributes attributes_;
  const Op op_ = skipping_op();
};

TEST_F(DrawnOperandsTest, KeepTheShareOfZerosAtOtherPlaces) {
  const std::vector<float> before = x_;
  DrawnOperands drawn(op_, call());
  std::vector<float> last;
  for (int round = 0; round < 3; ++round) {
    drawn.draw();
    const float* x = drawn.call().input(0).as<float>();
    const std::vector<float> now(x, x + kCount);
    int64_t zeros = 0, moved = 0;
    for (int64_t i = 0; i < kCount; ++i) {
      zeros += now[size_t(i)] == 0;
      moved += !last.empty() && now[size_t(i)] != last[size_t(i)];
    }
    EXPECT_NEAR(double(zeros) / kCount, 6.0 / 8, 0.02);  // five deviations are 0.015
    EXPECT_GT(moved, last.empty() ? -1 : kCount / 4);
    last = now;
  }
  EXPECT_EQ(x_, before) << "the operands themselves must stay";
}

TEST_F(DrawnOperandsTest, KeepTogetherWhatBelongsTogether) {
  DrawnOperands drawn(op_, call());
  drawn.draw();
  const float* x = drawn.call().input(0).as<float>();
  const uint8_t* marks = drawn.call().input(1).as<uint8_t>();
  for (int64_t i = 0; i < kCount; ++i) ASSERT_EQ(marks[i], x[i] != 0) << i;
}

TEST_F(DrawnOperandsTest, LeaveOperandsWithoutZerosAndUpdatesInPlace) {
  DrawnOperands drawn(op_, call());
  drawn.draw();
  EXPECT_EQ(drawn.call().input(2).data, weight_.data());
  EXPECT_EQ(drawn.call().input(4).data, target_.data());
  EXPECT_NE(drawn.call().input(3).data, other_.data()) << "of the target's shape, but not updated";
}

TEST_F(DrawnOperandsTest, ChangeNothingWhereNoVariantSkipsZeros) {
  Op op = op_;
  op.variants.erase(op.variants.begin());
  DrawnOperands drawn(op, call());
  drawn.draw();
  EXPECT_EQ(drawn.call().input(0).data, x_.data());
  EXPECT_EQ(describe_zeros(op, call()), "");
}

TEST_F(DrawnOperandsTest, SharesOfZerosAreWhatMeasurementsHoldFor) {
  EXPECT_EQ(describe_zeros(op_, call()), "zeros 6 - - 4 -");
  std::fill(x_.begin(), x_.end(), 0.0f);
  EXPECT_EQ(describe_zeros(op_, call()), "zeros 8 - - 4 -");
  DrawnOperands drawn(op_, call());
  EXPECT_EQ(drawn.call().input(0).data, x_.data()) << "all are zero: there is nothing to draw";
}

}  // namespace
}  // namespace treadle
