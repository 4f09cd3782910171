#include "treadle/ops/layout/views.h"

#include <gtest/gtest.h>

#include "treadle/core/error.h"
#include "treadle/ops/fill/fill.h"
#include "treadle/ops/layout/concat.h"
#include "treadle/ops/layout/copy.h"
#include "treadle/ops/layout/index_select.h"

namespace treadle {
namespace {

Tensor counting(const Shape& shape) {
  return reshape(arange(0, double(shape.numel()), 1, DType::f32), shape);
}

bool share_storage(const Tensor& a, const Tensor& b) { return a.handle()->storage == b.handle()->storage; }

TEST(Reshape, IsAViewWhereStridesAllowIt) {
  Tensor x = counting({4, 6});
  EXPECT_TRUE(share_storage(reshape(x, {2, -1, 3}), x));
  EXPECT_TRUE(share_storage(reshape(slice(x, 0, 0, 4, 2), {2, 2, 3}), x));
  Tensor row = counting({1, 2});
  EXPECT_TRUE(share_storage(reshape(expand(row, {3, 2}), {3, 1, 2}), row));
}

TEST(Reshape, CopiesWhereItMust) {
  Tensor x = counting({2, 3});
  Tensor y = reshape(transpose(x, 0, 1), {6});
  EXPECT_FALSE(share_storage(x, y));
  EXPECT_EQ(y.to_vector<float>(), (std::vector<float>{0, 3, 1, 4, 2, 5}));
}

TEST(Reshape, SendsTheGradientBackThroughItsCopy) {
  Tensor x = counting({2, 3});
  x.set_requires_grad();
  reshape(transpose(x, 0, 1), {6}).backward(counting({6}));
  EXPECT_EQ(x.grad().to_vector<float>(), (std::vector<float>{0, 2, 4, 1, 3, 5}));
}

TEST(Reshape, RefusesShapesThatDoNotFit) {
  Tensor x = counting({2, 3});
  EXPECT_THROW(reshape(x, {4}), ShapeError);
  EXPECT_THROW(reshape(x, {-1, 4}), ShapeError);
  EXPECT_THROW(reshape(x, {-1, -1}), ShapeError);
  EXPECT_THROW(reshape(Tensor::empty({0}), {0, -1, 0}), ShapeError);
}

TEST(Views, RefuseWrongAxes) {
  Tensor x = counting({2, 3});
  EXPECT_THROW(permute(x, {0, 0}), ShapeError);
  EXPECT_THROW(permute(x, {0}), ShapeError);
  EXPECT_THROW(squeeze(x, 0), ShapeError);
  EXPECT_THROW(slice(x, 2, 0), ShapeError);
  EXPECT_THROW(slice(x, 0, 0, 2, 0), ValueError);
  EXPECT_THROW(expand(x, {2, 4}), ShapeError);
}

TEST(Copy, ReturnsTheTensorItselfWhereNothingIsToDo) {
  Tensor x = counting({2, 3, 4, 5});
  EXPECT_TRUE(contiguous(x).same_as(x));
  Tensor y = to_channels_last(x);
  EXPECT_FALSE(y.same_as(x));
  EXPECT_TRUE(to_channels_last(y).same_as(y));
  EXPECT_TRUE(clone(y).strides() == y.strides());
  EXPECT_EQ(y.to_vector<float>(), x.to_vector<float>());
  EXPECT_THROW(to_channels_last(counting({2, 3})), ShapeError);
}

TEST(Copy, GoesToADeviceAndTheGradientBack) {
  Tensor x = counting({2, 3});
  x.set_requires_grad();
  Tensor y = to(x, kSimt);
  EXPECT_EQ(y.device(), kSimt);
  EXPECT_EQ(y.to_vector<float>(), x.to_vector<float>());
  y.backward(to(counting({2, 3}), kSimt));
  EXPECT_EQ(x.grad().device(), kCpu);
  EXPECT_EQ(x.grad().to_vector<float>(), counting({2, 3}).to_vector<float>());
}

TEST(CopyInto, WritesThroughAViewAndRaisesTheVersion) {
  Tensor x = full({3, 4}, 0);
  uint64_t before = x.handle()->storage->version();
  copy_into(slice(x, 1, 1, 3), counting({3, 1}));
  EXPECT_GT(x.handle()->storage->version(), before);
  EXPECT_EQ(x.to_vector<float>(), (std::vector<float>{0, 0, 0, 0, 0, 1, 1, 0, 0, 2, 2, 0}));
  EXPECT_THROW(copy_into(x, counting({3})), ShapeError);
  EXPECT_THROW(copy_into(x, full({3, 4}, 1, DType::f64)), DTypeError);
}

TEST(Concat, RefusesWhatDoesNotFit) {
  EXPECT_THROW(concat({}), ValueError);
  EXPECT_THROW(concat({counting({2, 3}), counting({2, 4})}, 0), ShapeError);
  EXPECT_THROW(concat({counting({2}), full({2}, 0, DType::f64)}), DTypeError);
}

TEST(IndexSelect, NamesAnIndexOutOfRange) {
  Tensor indices = Tensor::from(std::vector<int64_t>{1, 7}, {2});
  try {
    index_select(counting({3, 2}), 0, indices);
    FAIL();
  } catch (const ValueError& error) {
    EXPECT_STREQ(error.what(), "index_select: index 7 at position 1 is outside [0, 3)");
  }
  EXPECT_THROW(index_select(counting({3}), 0, Tensor::from(std::vector<int64_t>{-1}, {1})), ValueError);
  EXPECT_THROW(index_select(counting({3}), 0, counting({1})), DTypeError);
}

TEST(Arange, CountsElementsAsDivisionRoundedUp) {
  EXPECT_EQ(arange(2, 9, 3).to_vector<int64_t>(), (std::vector<int64_t>{2, 5, 8}));
  EXPECT_EQ(arange(1, 0, -0.5, DType::f32).to_vector<float>(), (std::vector<float>{1, 0.5f}));
  EXPECT_EQ(arange(1, 1).numel(), 0);
  EXPECT_THROW(arange(0, 1, 0), ValueError);
  EXPECT_THROW(arange(0, 1, -1), ValueError);
}

}  // namespace
}  // namespace treadle
