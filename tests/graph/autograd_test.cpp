/// Automatic differentiation: the fixed behaviours of the engine.
#include "treadle/graph/autograd.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "tests/refused.h"
#include "treadle/core/allocator.h"
#include "treadle/core/error.h"
#include "treadle/graph/registry.h"
#include "treadle/ops/fill/fill.h"
#include "treadle/ops/layout/concat.h"
#include "treadle/ops/layout/copy.h"
#include "treadle/ops/layout/views.h"
#include "treadle/ops/matrix/matmul.h"
#include "treadle/ops/pointwise/pointwise.h"
#include "treadle/ops/reduce/reduce.h"

namespace treadle {
namespace {

Tensor leaf(std::initializer_list<float> values, const Shape& shape) {
  return Tensor::from(values, shape).set_requires_grad();
}

TEST(Autograd, SumOfATensorWithItselfGivesTwo) {
  Tensor x = leaf({3}, {1});
  (x + x).backward();
  EXPECT_EQ(x.grad().item(), 2);
}

TEST(Autograd, GradientsAccumulate) {
  Tensor x = leaf({3}, {1});
  (x * x).backward();
  (x * x).backward();
  EXPECT_EQ(x.grad().item(), 12);
}

TEST(Autograd, DiamondsVisitEachNodeOnce) {
  Tensor x = leaf({2}, {1});
  Tensor y = x * x, z = y + y * y;
  z.backward();
  EXPECT_EQ(x.grad().item(), 2 * 2 * (1 + 2 * 4));
}

TEST(Autograd, BroadcastingSumsBackToTheShapeOfTheInput) {
  Tensor x = leaf({1, 2, 3, 4, 5, 6}, {2, 3}), b = leaf({1, 1, 1}, {3});
  sum(x * b).backward();
  EXPECT_EQ(b.grad().to_vector<float>(), (std::vector<float>{5, 7, 9}));
}

TEST(Autograd, GradientFlowsThroughTransposedOperands) {
  Tensor a = leaf({1, 2, 3, 4, 5, 6}, {2, 3}), b = leaf({1, 0, 2, 1, 0, 1}, {2, 3});
  sum(matmul(a, transpose(b, 0, 1))).backward();
  EXPECT_EQ(a.grad().to_vector<float>(), (std::vector<float>{2, 0, 3, 2, 0, 3}));
  EXPECT_EQ(b.grad().to_vector<float>(), (std::vector<float>{5, 7, 9, 5, 7, 9}));
}

void scale_gradient(const Tensor& leaf, double factor) {
  NoGrad no_grad;
  copy_into(leaf.grad(), leaf.grad() * factor);
}

using Floats = std::vector<float>;

TEST(Autograd, LeavesThatGetOneGradientHoldEachItsOwn) {
  Tensor a = leaf({1, 2}, {2}), b = leaf({3, 4}, {2}), w = Tensor::from({5, 6}, {2});
  sum((a + b) * w).backward();
  scale_gradient(a, 10);
  EXPECT_EQ(a.grad().to_vector<float>(), (Floats{50, 60}));
  EXPECT_EQ(b.grad().to_vector<float>(), (Floats{5, 6}));
}

TEST(Autograd, LeavesThatGetViewsOfOneGradientHoldEachItsOwn) {
  Tensor a = leaf({1, 2}, {2}), b = leaf({3, 4}, {2}), w = Tensor::from({5, 6}, {1, 2});
  sum((reshape(a, {1, 2}) + reshape(b, {1, 2})) * w).backward();
  scale_gradient(a, 10);
  EXPECT_EQ(a.grad().to_vector<float>(), (Floats{50, 60}));
  EXPECT_EQ(b.grad().to_vector<float>(), (Floats{5, 6}));
}

TEST(Autograd, AGradientIsNotTheCallersUpstream) {
  Tensor a = leaf({1, 2}, {2}), upstream = Tensor::from({5, 6}, {2});
  (a + 1.0).backward(upstream);
  scale_gradient(a, 10);
  EXPECT_EQ(upstream.to_vector<float>(), (Floats{5, 6}));
}

TEST(Autograd, AGradientLiesWithoutGaps) {
  Tensor a = leaf({1, 2}, {2}), w = Tensor::from({1, 2, 3, 4, 5, 6}, {3, 2});
  sum(expand(a, {3, 2}) * w).backward();
  EXPECT_EQ(a.grad().to_vector<float>(), (Floats{9, 12}));
  Tensor c = leaf({7}, {1});
  sum(expand(c, {4})).backward();
  EXPECT_TRUE(is_dense(c.grad().shape(), c.grad().strides()));
  for (auto reduce : {sum, mean}) {
    Tensor d = leaf({1, 2, 3, 4}, {4});
    reduce(d, {}, false).backward();
    EXPECT_TRUE(is_dense(d.grad().shape(), d.grad().strides()));
    const float before = d.grad().to_vector<float>()[0];
    scale_gradient(d, 2);
    EXPECT_EQ(d.grad().to_vector<float>(), Floats(4, 2 * before));
  }
}

TEST(Autograd, SecondBackwardSaysThatTheGraphIsFreed) {
  Tensor x = leaf({3}, {1}), y = x * x;
  y.backward();
  try {
    y.backward();
    FAIL() << "no exception";
  } catch (const AutogradError& error) {
    EXPECT_NE(std::string(error.what()).find("retain_graph"), std::string::npos) << error.what();
  }
  Tensor z = x * x;
  z.backward({}, true);
  z.backward();
  EXPECT_EQ(x.grad().item(), 18);
}

TEST(Autograd, InPlaceUpdateOfASavedTensorIsDetected) {
  Tensor x = leaf({3}, {1}), w = Tensor::from({2}, {1});
  Tensor y = x * w;
  copy_into(w, Tensor::from({5}, {1}));
  EXPECT_THROW(y.backward(), AutogradError);
}

TEST(Autograd, InPlaceUpdateThroughAViewIsDetected) {
  Tensor x = leaf({3, 4}, {2}), w = Tensor::from({1, 2}, {2});
  Tensor y = sum(x * w);
  fill_(slice(w, 0, 0, 1), 7);
  EXPECT_THROW(y.backward(), AutogradError);
}

TEST(Autograd, LeavesAreUpdatedInPlaceOnlyUnderNoGrad) {
  Tensor x = leaf({3}, {1});
  EXPECT_THROW(fill_(x, 1), AutogradError);
  NoGrad no_grad;
  fill_(x, 1);
  EXPECT_EQ(x.item(), 1);
}

TEST(Autograd, NoGradLeavesNoNodes) {
  Tensor x = leaf({3}, {1});
  NoGrad no_grad;
  Tensor y = x * x;
  EXPECT_FALSE(y.requires_grad());
  EXPECT_THROW(y.backward(), AutogradError);
}

TEST(Autograd, HooksBelongToLeaves) {
  Tensor x = leaf({3}, {1}), y = x * x, plain = Tensor::from({1}, {1});
  EXPECT_THROW(register_gradient_hook(y, [](const Tensor&) {}), AutogradError);
  EXPECT_THROW(register_gradient_hook(plain, [](const Tensor&) {}), AutogradError);
}

/// nll_loss's second result is the weight of all samples, floating and the same whatever x is.
TEST(Autograd, ResultsWithoutGradientRequireNone) {
  Tensor x = leaf({1, 2, 3, 4}, {2, 2}), labels = Tensor::from(std::vector<int64_t>{0, 1}, {2});
  const Op& op = op_named("nll_loss");
  auto results = apply(op, {x, labels, Tensor()}, op.options->make({}));
  EXPECT_TRUE(results[0].requires_grad());
  EXPECT_FALSE(results[1].requires_grad());
}

TEST(Autograd, AGradientThatIsSetHasNoHistory) {
  Tensor x = leaf({3}, {1});
  x.set_grad(x * 2.0);
  EXPECT_FALSE(x.grad().requires_grad());
}

TEST(Autograd, GradientsHaveNoHistoryThoughTheUpstreamHasOne) {
  Tensor x = leaf({3}, {1}), upstream = leaf({2}, {1});
  (x * 5.0).backward(upstream);
  EXPECT_EQ(x.grad().item(), 10);
  EXPECT_FALSE(x.grad().requires_grad());
}

TEST(Autograd, ManyElementsNeedAnUpstream) {
  Tensor y = leaf({1, 2}, {2}) * 2.0;
  try {
    y.backward();
    FAIL() << "no exception";
  } catch (const ShapeError& error) {
    EXPECT_NE(std::string(error.what()).find("without upstream needs one element"), std::string::npos)
        << error.what();
  }
}

TEST(Autograd, NoGradEndsWithTheOutermost) {
  {
    NoGrad outer;
    { NoGrad inner; }
    EXPECT_FALSE(gradient_mode());
  }
  EXPECT_TRUE(gradient_mode());
}

TEST(Autograd, UpstreamMustFit) {
  Tensor x = leaf({1, 2}, {2}), y = x * x;
  EXPECT_THROW(y.backward(), ShapeError);
  EXPECT_THROW(y.backward(Tensor::from({1, 1, 1}, {3})), ShapeError);
  y.backward(Tensor::from({1, 10}, {2}));
  EXPECT_EQ(x.grad().to_vector<float>(), (std::vector<float>{2, 40}));
}

TEST(Autograd, HooksSeeTheFinishedGradient) {
  Tensor x = leaf({3}, {1});
  std::vector<double> seen;
  register_gradient_hook(x, [&](const Tensor& gradient) { seen.push_back(gradient.item()); });
  (x + x).backward();
  EXPECT_EQ(seen, (std::vector<double>{2}));
}

/// Though the result, and with it the graph, is still held.
TEST(Autograd, BackwardFreesWhatWasSaved) {
  constexpr int64_t kCount = 1 << 16;
  const size_t before = allocator(kCpu).statistics().allocated_bytes;
  Tensor x = full({kCount}, 0.5).set_requires_grad();
  Tensor loss = sum(exp(x * 1.0));
  loss.backward();
  const size_t held = allocator(kCpu).statistics().allocated_bytes - before;
  EXPECT_LT(held, 5 * kCount * sizeof(float) / 2) << "x and its gradient, and little else";
}

TEST(Autograd, LongChainsNeitherOverflowTheStackNorLeak) {
  size_t before = allocator(kCpu).statistics().allocated_bytes;
  {
    Tensor x = leaf({1}, {1}), y = x, one = Tensor::from({1}, {1});
    for (int i = 0; i < 100'000; ++i) y = y + one;
    y.backward();
    EXPECT_EQ(x.grad().item(), 1);
  }
  {
    Tensor x = leaf({1}, {1}), y = x, one = Tensor::from({1}, {1});
    for (int i = 0; i < 100'000; ++i) y = y * one;  // dropped without backward()
  }
  EXPECT_EQ(allocator(kCpu).statistics().allocated_bytes, before);
}

/// Leaves that receive one and the same gradient hold copies: what is done to one stays with it.
TEST(Autograd, LeavesDoNotShareAGradient) {
  Tensor a = leaf({1, 2}, {2}), b = leaf({3, 4}, {2}), c = leaf({5, 6, 7, 8}, {2, 2}),
         d = leaf({1, 1}, {2, 1});
  Tensor upstream = Tensor::from({1, 10}, {2});
  (a + b).backward(upstream);
  sum(concat({c, d}, 1)).backward();
  NoGrad no_grad;
  fill_(a.grad(), 7);
  EXPECT_EQ(b.grad().to_vector<float>(), (std::vector<float>{1, 10}));
  EXPECT_EQ(upstream.to_vector<float>(), (std::vector<float>{1, 10}));
  fill_(b.grad(), 5);
  EXPECT_EQ(upstream.to_vector<float>(), (std::vector<float>{1, 10}));
  fill_(c.grad(), 9);
  EXPECT_EQ(d.grad().to_vector<float>(), (std::vector<float>{1, 1}));
}

/// The same where views of one gradient go to different leaves, and where a leaf is the root itself.
TEST(Autograd, LeavesDoNotShareViewsOfAGradient) {
  Tensor a = leaf({1, 2, 3, 4}, {2, 2}), b = leaf({5, 6, 7, 8}, {4}), root = leaf({1, 2}, {2});
  Tensor upstream = Tensor::from({1, 2, 3, 4}, {4}), of_root = Tensor::from({3, 4}, {2});
  (reshape(a, {4}) + b).backward(upstream);
  root.backward(of_root);
  NoGrad no_grad;
  fill_(a.grad(), 0);
  EXPECT_EQ(b.grad().to_vector<float>(), (std::vector<float>{1, 2, 3, 4}));
  fill_(b.grad(), 0);
  EXPECT_EQ(upstream.to_vector<float>(), (std::vector<float>{1, 2, 3, 4}));
  fill_(root.grad(), 0);
  EXPECT_EQ(of_root.to_vector<float>(), (std::vector<float>{3, 4}));
}

TEST(Autograd, AGradientIsLikeItsTensor) {
  Tensor x = leaf({1, 2}, {2}), y = x * x;
  const Tensor half = to(x.detach(), DType::f16), far = to(x.detach(), kSimt);
  expect_refused({
      refused<ShapeError>("shape", {"set_grad", "[3]", "[2]"}, [&] { x.set_grad(Tensor::zeros({3})); }),
      refused<DTypeError>("dtype", {"set_grad", "f16", "f32"}, [&] { x.set_grad(half); }),
      refused<DeviceError>("device", {"set_grad", "simt", "cpu"}, [&] { x.set_grad(far); }),
      refused<ShapeError>("upstream shape", {"[3]", "[2]"}, [&] { y.backward(Tensor::zeros({3})); }),
      refused<DTypeError>("upstream dtype", {"f16", "f32"}, [&] { y.backward(half); }),
      refused<DeviceError>("upstream device", {"simt", "cpu"}, [&] { y.backward(far); }),
      refused<ShapeError>("no upstream", {"[2]"}, [&] { y.backward(); }),
      refused<AutogradError>("no gradient", {"requires a gradient"}, [&] { half.backward(half); }),
      refused<DTypeError>("integers", {"i64"}, [&] { to(x, DType::i64).set_requires_grad(); }),
      refused<AutogradError>("not a leaf", {"leaf"}, [&] { y.set_requires_grad(false); }),
      refused<ValueError>("empty hook", {"hook"}, [&] { register_gradient_hook(x, {}); }),
      refused<AutogradError>("hook of no leaf", {"leaves"},
                             [&] { register_gradient_hook(y, [](const Tensor&) {}); }),
      refused<AutogradError>("hook of nothing", {"leaves"},
                             [&] { register_gradient_hook({}, [](const Tensor&) {}); }),
  });
  x.set_grad({});
  EXPECT_FALSE(x.grad().defined());
}

[[noreturn]] void exit_with_a_graph_in_a_static_tensor() {
  static Tensor kept;
  Tensor x = leaf({1}, {1}), y = x;
  for (int i = 0; i < 1000; ++i) y = y * x;
  y = Tensor();  // frees nodes in this thread before it ends
  kept = x;
  for (int i = 0; i < 100'000; ++i) kept = kept * x + x;
  std::exit(0);
}

/// Static tensors are freed after the objects of the main thread: the list of nodes to free must not be one.
TEST(Autograd, StaticTensorsMayHoldAGraphUntilTheProgramEnds) {
  EXPECT_EXIT(exit_with_a_graph_in_a_static_tensor(), testing::ExitedWithCode(0), "");
}

TEST(Autograd, ReluAtZeroAndMaxTies) {
  Tensor x = leaf({0, 0, -1, 2}, {4});
  sum(relu(x)).backward();
  EXPECT_EQ(x.grad().to_vector<float>(), (std::vector<float>{0, 0, 0, 1}));
  Tensor y = leaf({1, 3, 3, 2}, {4});
  max(y).backward();
  EXPECT_EQ(y.grad().to_vector<float>(), (std::vector<float>{0, 1, 0, 0}));
}

TEST(Autograd, NaNPropagatesThroughMaxAndRelu) {
  Tensor x = Tensor::from({1, NAN, 3}, {3});
  EXPECT_TRUE(std::isnan(max(x).item()));
  EXPECT_TRUE(std::isnan(relu(x).to_vector<float>()[1]));
  EXPECT_TRUE(std::isnan(maximum(x, Tensor::from({0, 5, 0}, {3})).to_vector<float>()[1]));
}

TEST(Apply, NamesWhatDoesNotFit) {
  Tensor x = Tensor::from({1, 2}, {2});
  EXPECT_THROW(x + Tensor::from({1, 2, 3}, {3}), ShapeError);
  EXPECT_THROW(x + to(x, kSimt), DeviceError);
  EXPECT_THROW(gelu(to(x, DType::i32)), DTypeError);
}

}  // namespace
}  // namespace treadle
