/// BatchNorm1d and BatchNorm2d: parameters, buffers and running statistics as PyTorch's, training and
/// evaluation, and what they refuse. Numbers are worked out by hand.
#include "treadle/nn/batch_norm.h"

#include <cmath>

#include "tests/refused.h"
#include "treadle/core/error.h"
#include "treadle/ops/random/random.h"

namespace treadle {
namespace {

using Floats = std::vector<float>;

Tensor tensor_of(const Shape& shape, const Floats& values) { return Tensor::from(values, shape); }

TEST(BatchNorm, BeginsAsPyTorchDoes) {
  BatchNorm2d layer(3);
  const auto state = layer.state_dict();
  std::vector<std::string> names;
  for (const NamedTensor& entry : state) names.push_back(entry.name);
  EXPECT_EQ(names, (std::vector<std::string>{"weight", "bias", "running_mean", "running_var",
                                             "num_batches_tracked"}));
  EXPECT_EQ(layer.weight.to_vector<float>(), Floats(3, 1));
  EXPECT_EQ(layer.bias.to_vector<float>(), Floats(3, 0));
  EXPECT_EQ(layer.running_mean.to_vector<float>(), Floats(3, 0));
  EXPECT_EQ(layer.running_var.to_vector<float>(), Floats(3, 1));
  EXPECT_EQ(layer.num_batches_tracked.to_vector<int64_t>(), std::vector<int64_t>{0});
  EXPECT_EQ(BatchNorm2d(3, {.affine = false}).parameters().size(), 0u);
}

/// Channel 0: 1, 3, 5 with mean 3 and variance 8/3, unbiased 4. Channel 1: 0, 0, 6 with 2 and 8, unbiased 12.
TEST(BatchNorm, TrainingNormalisesByTheBatchAndMovesTheRunningStatistics) {
  BatchNorm1d layer(2, {.momentum = 0.25});
  const Floats y = layer(tensor_of({3, 2}, {1, 0, 3, 0, 5, 6})).to_vector<float>();
  const float deviation = std::sqrt(8.f / 3 + 1e-5f);
  EXPECT_NEAR(y[0], -2 / deviation, 1e-6);
  EXPECT_NEAR(y[2], 0, 1e-6);
  EXPECT_EQ(layer.running_mean.to_vector<float>(), (Floats{0.75, 0.5}));
  EXPECT_EQ(layer.running_var.to_vector<float>(), (Floats{0.75 + 1, 0.75 + 3}));
  EXPECT_EQ(layer.num_batches_tracked.to_vector<int64_t>(), std::vector<int64_t>{1});
}

TEST(BatchNorm, WithoutMomentumAllBatchesCountAlike) {
  BatchNorm1d layer(1, {.momentum = std::nullopt});
  layer(tensor_of({2, 1}, {0, 2}));   // mean 1, unbiased variance 2
  layer(tensor_of({2, 1}, {3, 11}));  // 7, 32
  EXPECT_EQ(layer.running_mean.to_vector<float>(), Floats{4});
  EXPECT_EQ(layer.running_var.to_vector<float>(), Floats{17});
  EXPECT_EQ(layer.num_batches_tracked.to_vector<int64_t>(), std::vector<int64_t>{2});
}

TEST(BatchNorm, EvaluationUsesTheRunningStatisticsAndLeavesThem) {
  BatchNorm1d layer(1, {.epsilon = 0});
  layer.load_state_dict({{"weight", tensor_of({1}, {2})},
                         {"bias", tensor_of({1}, {1})},
                         {"running_mean", tensor_of({1}, {3})},
                         {"running_var", tensor_of({1}, {4})},
                         {"num_batches_tracked", Tensor::zeros({}, DType::i64)}});
  layer.eval();
  EXPECT_EQ(layer(tensor_of({2, 1}, {3, 7})).to_vector<float>(), (Floats{1, 5}));
  EXPECT_EQ(layer.running_mean.to_vector<float>(), Floats{3});
  EXPECT_EQ(layer.num_batches_tracked.to_vector<int64_t>(), std::vector<int64_t>{0});
  EXPECT_EQ(layer(tensor_of({1, 1}, {3})).to_vector<float>(), Floats{1}) << "one element will do";
}

TEST(BatchNorm, HalfTypesKeepTheirStatisticsInTheLayersType) {
  BatchNorm2d layer(3);
  layer.to(DType::bf16);
  const Tensor y = layer(rand({2, 3, 4, 4}, DType::bf16));
  EXPECT_EQ(y.dtype(), DType::bf16);
  EXPECT_EQ(layer.running_mean.dtype(), DType::bf16);
  EXPECT_EQ(layer.num_batches_tracked.dtype(), DType::i64);
  EXPECT_NEAR(layer.running_mean.to_doubles()[0], 0.05, 0.05);
}

TEST(BatchNorm, SaysWhatItIs) {
  EXPECT_EQ(BatchNorm2d(6).describe(), "BatchNorm2d(6)");
  EXPECT_EQ(BatchNorm1d(6, {.affine = false}).describe(), "BatchNorm1d(6, not affine)");
}

TEST(BatchNorm, Refuses) {
  expect_refused({
      refused<ShapeError>("channels", {"[2, 4, 3, 3]", "4 channels", "the layer 6"},
                          [] {
                            BatchNorm2d(6)(rand({2, 4, 3, 3}));
                          }),
      refused<ShapeError>("axes", {"BatchNorm2d", "[2, 6]", "[N, C, H, W]"},
                          [] {
                            BatchNorm2d(6)(rand({2, 6}));
                          }),
      refused<ShapeError>("axes", {"BatchNorm1d", "[2, 6, 3, 3]", "[N, C] or [N, C, L]"},
                          [] {
                            BatchNorm1d(6)(rand({2, 6, 3, 3}));
                          }),
      refused<ShapeError>("one element", {"[1, 6]", "1 elements", "two or more"},
                          [] {
                            BatchNorm1d(6)(rand({1, 6}));
                          }),
      refused<ShapeError>("no element", {"[0, 6]", "0 elements"},
                          [] {
                            BatchNorm1d(6)(rand({0, 6}));
                          }),
      refused<ShapeError>("negative", {"-6 channels"}, [] { BatchNorm2d(-6); }),
      refused<ValueError>("momentum", {"momentum 2"},
                          [] {
                            BatchNorm1d(6, {.momentum = 2})(rand({2, 6}));
                          }),
      refused<ValueError>("epsilon", {"epsilon -1"},
                          [] {
                            BatchNorm1d(6, {.epsilon = -1})(rand({2, 6}));
                          }),
  });
}

}  // namespace
}  // namespace treadle
