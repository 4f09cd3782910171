/// Shapes, strides, broadcasting and dtype promotion.
#include <gtest/gtest.h>

#include "treadle/core/dtype.h"
#include "treadle/core/error.h"
#include "treadle/core/half.h"
#include "treadle/core/shape.h"

namespace treadle {
namespace {

TEST(Shape, StridesOfBothLayouts) {
  Shape shape{2, 3, 4, 5};
  EXPECT_EQ(contiguous_strides(shape), (Strides{60, 20, 5, 1}));
  EXPECT_EQ(channels_last_strides(shape), (Strides{60, 1, 15, 3}));
  EXPECT_TRUE(is_channels_last(shape, channels_last_strides(shape)));
  EXPECT_FALSE(is_contiguous(shape, channels_last_strides(shape)));
  EXPECT_TRUE(is_dense(shape, channels_last_strides(shape)));
  EXPECT_FALSE(is_dense(shape, {120, 40, 10, 2}));
}

TEST(Shape, AxesOfOneElementDoNotMatter) {
  EXPECT_TRUE(is_contiguous({2, 1, 4}, {4, 999, 1}));
  EXPECT_TRUE(is_channels_last({2, 1, 4, 5}, {20, 20, 5, 1}));
  EXPECT_TRUE(is_dense({2, 1, 4}, {4, 999, 1}));
  EXPECT_FALSE(is_channels_last({2, 3}, {3, 1})) << "only images are";
}

/// An axis without elements counts as one, as in PyTorch: no stride is 0, and none is lost.
TEST(Shape, AxesWithoutElements) {
  EXPECT_EQ(contiguous_strides({2, 0, 3}), (Strides{3, 3, 1}));
  EXPECT_EQ(channels_last_strides({2, 0, 4, 5}), (Strides{20, 1, 5, 1}));
  EXPECT_TRUE(is_contiguous({2, 0, 3}, {7, 7, 7}));
}

TEST(Shape, ReachEndsBehindTheLastElement) {
  EXPECT_EQ(reach({2, 3}, {3, 1}), 6);
  EXPECT_EQ(reach({2, 3}, {10, 2}), 15);
  EXPECT_EQ(reach({4, 3}, {0, 1}), 3);
  EXPECT_EQ(reach({}, {}), 1);
  EXPECT_EQ(reach({4, 0}, {1, 1}), 0);
}

TEST(Shape, AxesCountFromBothEnds) {
  EXPECT_EQ(normalize_axis(-3, 3, "sum"), 0);
  EXPECT_EQ(normalize_axis(2, 3, "sum"), 2);
  for (int64_t axis : {-4, 3}) EXPECT_THROW(normalize_axis(axis, 3, "sum"), ShapeError) << axis;
}

TEST(Shape, BroadcastAxesHaveNoStride) {
  EXPECT_EQ(broadcast_strides({3, 1}, {5, 7}, {2, 3, 4}), (Strides{0, 5, 0}));
  EXPECT_THROW(broadcast_strides({2}, {1}, {3}), ShapeError);
  EXPECT_THROW(broadcast_strides({2, 3}, {3, 1}, {3}), ShapeError);
}

TEST(Shape, BroadcastsAsNumPy) {
  EXPECT_EQ(broadcast_shapes({4, 1, 3}, {5, 1}, "add"), (Shape{4, 5, 3}));
  EXPECT_EQ(broadcast_shapes({}, {2}, "add"), (Shape{2}));
  EXPECT_EQ(broadcast_shapes({0, 3}, {1, 3}, "add"), (Shape{0, 3}));
  EXPECT_EQ(broadcast_shapes({1, 3}, {0, 3}, "add"), (Shape{0, 3}));
}

TEST(Shape, ErrorsNameBothShapes) {
  try {
    broadcast_shapes({2, 3}, {4, 3}, "add");
    FAIL() << "no exception";
  } catch (const ShapeError& error) {
    EXPECT_STREQ(error.what(), "add: shapes [2, 3] and [4, 3] do not broadcast");
  }
}

TEST(Shape, TooManyElementsOrAxes) {
  EXPECT_THROW(checked_numel({INT64_MAX, 2}), ShapeError);
  EXPECT_THROW(checked_numel({-1, 2}), ShapeError);
  EXPECT_THROW(checked_numel({0, INT64_MAX, 2}), ShapeError)
      << "though there are none: strides would overflow";
  EXPECT_THROW((Shape{1, 2, 3, 4, 5, 6, 7, 8, 9}), ShapeError);
}

TEST(DType, PromotesAsPyTorch) {
  EXPECT_EQ(promote(DType::f16, DType::bf16), DType::f32);
  EXPECT_EQ(promote(DType::i64, DType::f16), DType::f16);
  EXPECT_EQ(promote(DType::u8, DType::i8), DType::i16);
  EXPECT_EQ(promote(DType::u8, DType::i32), DType::i32);
  EXPECT_EQ(promote(DType::boolean, DType::u8), DType::u8);
  EXPECT_EQ(promote(DType::f32, DType::f64), DType::f64);
}

TEST(Half, EveryFloat16SurvivesTheWayThroughFloat) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    Float16 h = Float16::from_bits(uint16_t(bits));
    float f = h;
    if (f != f) {
      EXPECT_TRUE(float(Float16(f)) != float(Float16(f)));
    } else {
      ASSERT_EQ(Float16(f).bits, bits);
    }
  }
}

TEST(Half, RoundsToNearestEven) {
  EXPECT_EQ(Float16(1.0f + 0x1p-11f).bits, Float16(1.0f).bits);
  EXPECT_EQ(Float16(1.0f + 3 * 0x1p-11f).bits, Float16(1.0f + 0x1p-9f).bits);
  EXPECT_EQ(Float16(65520.0f).bits, 0x7c00);
  EXPECT_EQ(Float16(0x1p-24f).bits, 1);
  EXPECT_EQ(BFloat16(1.0f + 0x1p-8f).bits, BFloat16(1.0f).bits);
  EXPECT_EQ(BFloat16(1.0f + 3 * 0x1p-8f).bits, BFloat16(1.0f + 0x1p-6f).bits);
}

}  // namespace
}  // namespace treadle
