/// The typed functions of losses, by values found by hand: that their parameters reach the ops.
#include <gtest/gtest.h>

#include <cmath>

#include "treadle/core/error.h"
#include "treadle/ops/loss/binary_cross_entropy.h"
#include "treadle/ops/loss/binary_cross_entropy_with_logits.h"
#include "treadle/ops/loss/hinge_loss.h"
#include "treadle/ops/loss/huber_loss.h"
#include "treadle/ops/loss/kl_div.h"
#include "treadle/ops/loss/l1_loss.h"
#include "treadle/ops/loss/multi_margin_loss.h"
#include "treadle/ops/loss/nll_loss.h"
#include "treadle/ops/loss/pick.h"

namespace treadle {
namespace {

Tensor vector(std::initializer_list<float> values) { return Tensor::from(values, {int64_t(values.size())}); }

using Floats = std::vector<float>;
const float kLog2 = std::log(2.f);

TEST(Losses, OfDifferences) {
  const Tensor x = vector({0, 2, -1, 3}), target = vector({1, 0, -1, 3});
  EXPECT_EQ(l1_loss(x, target).item(), 0.75);
  EXPECT_EQ(l1_loss(x, target, "sum").item(), 3);
  EXPECT_EQ(huber_loss(x, target).item(), 0.5);
  EXPECT_EQ(huber_loss(x, target, 0.5, "none").to_vector<float>(), Floats({0.375, 0.875, 0, 0}));
  EXPECT_EQ(smooth_l1_loss(x, target, 0.5, "none").to_vector<float>(), Floats({0.75, 1.75, 0, 0}));
  EXPECT_EQ(smooth_l1_loss(x, target, 0, "none").to_vector<float>(), Floats({1, 2, 0, 0}));
  EXPECT_THROW(smooth_l1_loss(x, target, -1), ValueError);
  EXPECT_THROW(smooth_l1_loss(x, target, NAN), ValueError);
}

TEST(Losses, OfTwoClasses) {
  EXPECT_EQ(hinge_loss(vector({0.5, 2, -1}), vector({1, 1, -1}), "none").to_vector<float>(),
            Floats({0.5, 0, 0}));
  EXPECT_EQ(hinge_loss(vector({0.5, 2, 1}), vector({1, 1, -1})).item(), 2.5f / 3);
  const Tensor half = vector({0.5}), one = vector({1}), two = vector({2}), zero = vector({0});
  EXPECT_FLOAT_EQ(binary_cross_entropy(half, one).item(), kLog2);
  EXPECT_FLOAT_EQ(binary_cross_entropy(half, one, two, "sum").item(), 2 * kLog2);
  EXPECT_EQ(binary_cross_entropy(zero, one, {}, "none").to_vector<float>(), Floats({100}));
  EXPECT_FLOAT_EQ(binary_cross_entropy_with_logits(zero, half).item(), kLog2);
  EXPECT_FLOAT_EQ(binary_cross_entropy_with_logits(zero, one, two, vector({3}), "sum").item(), 6 * kLog2);
}

TEST(Losses, OfDistributions) {
  const Tensor x = Tensor::from({-kLog2, -kLog2, 0.f, 0.f}, {2, 2}),
               ones = Tensor::from({1, 1, 1, 1}, {2, 2});
  EXPECT_FLOAT_EQ(kl_div(x, ones).item(), kLog2 / 2);
  EXPECT_FLOAT_EQ(kl_div(x, ones, "batchmean").item(), kLog2);
  EXPECT_FLOAT_EQ(kl_div(x, Tensor::zeros({2, 2}), "sum", true).item(), 2 * kLog2);
}

TEST(Losses, OfClasses) {
  const Tensor x = Tensor::from({-1, -2, -3, -4, -5, -6}, {2, 3}), weight = vector({1, 2, 4}),
               labels = Tensor::from(std::vector<int64_t>{0, 2}, {2});
  EXPECT_EQ(pick(x, labels).to_vector<float>(), Floats({-1, -6}));
  EXPECT_EQ(pick(x, labels, 2).to_vector<float>(), Floats({-1, 0}));
  EXPECT_EQ(nll_loss(x, labels).item(), 3.5);
  EXPECT_EQ(nll_loss(x, labels, weight).item(), 5);
  EXPECT_EQ(nll_loss(x, labels, weight, {"sum", 0}).item(), 24);
  EXPECT_EQ(multi_margin_loss(x, labels, {}, {.margin = 0.5, .reduction = "none"}).to_vector<float>(),
            Floats({0, 4.f / 3}));
  EXPECT_EQ(multi_margin_loss(x, labels, weight, {.p = 2}).item(), (4 + 9) * 4.f / 3 / 2);
}

TEST(Losses, MeansOfNothing) {
  const Tensor none = Tensor::zeros({0, 3});
  for (const Tensor& loss : {l1_loss(none, none), huber_loss(none, none), hinge_loss(none, none),
                             kl_div(none, none, "batchmean"), binary_cross_entropy(none, none)})
    EXPECT_TRUE(std::isnan(loss.item()));
  EXPECT_EQ(kl_div(none, none, "sum").item(), 0);
}

}  // namespace
}  // namespace treadle
