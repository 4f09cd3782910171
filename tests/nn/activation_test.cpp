/// Activations as layers: each hands its options to its op, and says what they are.
#include "treadle/nn/activation.h"

#include "tests/refused.h"
#include "treadle/core/error.h"
#include "treadle/ops/random/random.h"
#include "treadle/ops/softmax/softmax.h"

namespace treadle {
namespace {

Tensor both_signs() { return rand({2, 3, 4}) * 16 - 8; }

TEST(Activation, IsItsOp) {
  const Tensor x = both_signs();
  auto expect = [&](Module&& layer, const char* description, const Tensor& y) {
    EXPECT_EQ(layer.describe(), description);
    EXPECT_EQ(layer(x).to_vector<float>(), y.to_vector<float>()) << description;
  };
  expect(ReLU(), "ReLU", relu(x));
  expect(ReLU6(), "ReLU6", clamp(x, 0, 6));
  expect(LeakyReLU(), "LeakyReLU(0.01)", leaky_relu(x, 0.01));
  expect(LeakyReLU(0.25), "LeakyReLU(0.25)", leaky_relu(x, 0.25));
  expect(ELU(), "ELU(1)", elu(x, 1));
  expect(ELU(0.5), "ELU(0.5)", elu(x, 0.5));
  expect(CELU(2), "CELU(2)", celu(x, 2));
  expect(SELU(), "SELU", selu(x));
  expect(GELU(), "GELU", gelu(x));
  expect(SiLU(), "SiLU", silu(x));
  expect(Mish(), "Mish", mish(x));
  expect(Hardswish(), "Hardswish", hard_swish(x));
  expect(Softplus(3), "Softplus(3)", softplus(x, 3));
  expect(Sigmoid(), "Sigmoid", sigmoid(x));
  expect(LogSigmoid(), "LogSigmoid", log_sigmoid(x));
  expect(Tanh(), "Tanh", tanh(x));
  expect(Hardtanh(), "Hardtanh(-1, 1)", clamp(x, -1, 1));
  expect(Hardtanh(-2, 0.5), "Hardtanh(-2, 0.5)", clamp(x, -2, 0.5));
  expect(Softmax(1), "Softmax(1)", softmax(x, 1));
  expect(LogSoftmax(-1), "LogSoftmax(-1)", log_softmax(x, -1));
}

TEST(PReLU, BeginsWithAQuarter) {
  const auto state = PReLU().state_dict();
  ASSERT_EQ(state.size(), 1u);
  EXPECT_EQ(state[0].name, "weight");
  EXPECT_EQ(state[0].tensor.to_vector<float>(), std::vector<float>{0.25f});
  EXPECT_EQ(PReLU(3, 0.5).weight.to_vector<float>(), std::vector<float>(3, 0.5f));
  EXPECT_EQ(PReLU(3).describe(), "PReLU(3)");
}

TEST(PReLU, HasASlopeForEachChannel) {
  PReLU layer(3);
  layer.load_state_dict({{"weight", Tensor::from({0.5, -1, 2}, {3})}});
  const Tensor x = Tensor::from({-1, 1, -1, 1, -1, 1}, {1, 3, 2});
  EXPECT_EQ(layer(x).to_vector<float>(), (std::vector<float>{-0.5, 1, 1, 1, -2, 1}));
  EXPECT_EQ(PReLU()(Tensor::from({-1, 1}, {2})).to_vector<float>(), (std::vector<float>{-0.25, 1}));
  EXPECT_EQ(PReLU()(Tensor::from({-4}, {})).shape(), Shape{});
}

TEST(PReLU, RefusesSlopesThatDoNotFit) {
  expect_refused({
      refused<ShapeError>("no slopes", {"PReLU", "0 slopes"}, [] { PReLU(0); }),
      refused<ShapeError>("other channels", {"prelu", "[3]", "[2, 4, 3]"},
                          [] {
                            PReLU(3)(Tensor::zeros({2, 4, 3}));
                          }),
      refused<ShapeError>("no channels", {"prelu", "[3]"}, [] { PReLU(3)(Tensor::zeros({3})); }),
      refused<ShapeError>("a matrix", {"prelu", "[1, 3]"},
                          [] {
                            prelu(Tensor::zeros({2, 3}), Tensor::zeros({1, 3}));
                          }),
  });
}

}  // namespace
}  // namespace treadle
