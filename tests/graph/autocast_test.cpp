/// Autocast: which operands are cast, that gradients keep the dtype of what they are of, and that a weight is
/// cast once.
#include "treadle/graph/autocast.h"

#include <gtest/gtest.h>

#include <thread>

#include "tests/random_tensor.h"
#include "tests/refused.h"
#include "treadle/core/error.h"
#include "treadle/graph/autograd.h"
#include "treadle/graph/op.h"
#include "treadle/graph/registry.h"
#include "treadle/graph/run_hook.h"
#include "treadle/ops/layout/cast.h"
#include "treadle/ops/layout/concat.h"
#include "treadle/ops/layout/copy.h"
#include "treadle/ops/layout/views.h"
#include "treadle/ops/loss/cross_entropy.h"
#include "treadle/ops/matrix/linear.h"
#include "treadle/ops/matrix/matmul.h"
#include "treadle/ops/pointwise/pointwise.h"
#include "treadle/ops/reduce/reduce.h"
#include "treadle/ops/softmax/softmax.h"
#include "treadle/optim/sgd/sgd.h"

namespace treadle {
namespace {

Tensor weight(const Shape& shape, uint64_t seed) {
  return random_tensor(shape, seed).detach().set_requires_grad();
}

/// Counts the casts that run while it lives.
class CastCount {
 public:
  int operator()() const { return count_; }

 private:
  int count_ = 0;
  ObserveRuns observer_{[this](const VariantRun& run, double) { count_ += run.op.name == "cast"; }};
};

TEST(Autocast, OpsComputeAsTheyDeclare) {
  const Tensor a = random_tensor({3, 4}, 1), b = random_tensor({4, 5}, 2);
  for (DType dtype : {DType::bf16, DType::f16}) {
    const Autocast scope(dtype);
    const Tensor product = matmul(a, b);
    EXPECT_EQ(product.dtype(), dtype);
    EXPECT_EQ(matmul(product, reshape(b, {5, 4})).dtype(), dtype);
    EXPECT_EQ(softmax(product).dtype(), DType::f32);
    EXPECT_EQ(sum(product).dtype(), DType::f32);
    EXPECT_EQ(relu(product).dtype(), dtype);
    EXPECT_EQ((product + random_tensor({3, 5}, 3)).dtype(), DType::f32);
    EXPECT_EQ(cross_entropy(product, Tensor::from(std::vector<int64_t>{0, 1, 2}, {3})).dtype(), DType::f32);
  }
  EXPECT_EQ(matmul(a, b).dtype(), DType::f32);
}

/// What the other half type left is cast, too; f64 turns casting off for its call.
TEST(Autocast, OtherDTypes) {
  const Autocast scope(DType::bf16);
  const Tensor a = random_tensor({3, 4}, 1), b = random_tensor({4, 5}, 2);
  EXPECT_EQ(matmul(cast(a, DType::f16), b).dtype(), DType::bf16);
  EXPECT_EQ(matmul(cast(a, DType::f64), cast(b, DType::f64)).dtype(), DType::f64);
  EXPECT_EQ(sum(cast(a, DType::i32)).dtype(), DType::i64);
}

TEST(Autocast, OpsThatTakeNoMixture) {
  const Tensor a = random_tensor({3, 4}, 1), low = cast(a, DType::bf16);
  const Autocast scope(DType::bf16);
  EXPECT_EQ(concat({low, low}).dtype(), DType::bf16);
  EXPECT_EQ(concat({low, a}).dtype(), DType::f32);
  EXPECT_EQ(concat({low, cast(a, DType::f16)}).dtype(), DType::f32);
}

/// The casts are of the operands, by round to nearest even, and products are summed in f32.
TEST(Autocast, IsTheCastsWrittenOut) {
  const Tensor x = random_tensor({5, 40}, 1), w = weight({7, 40}, 2), b = weight({7}, 3);
  auto low = [](const Tensor& t) { return cast(t, DType::bf16); };
  const Tensor wanted = linear(low(x), low(w), low(b));
  const Autocast scope(DType::bf16);
  EXPECT_EQ(linear(x, w, b).to_doubles(), wanted.to_doubles());
}

TEST(Autocast, ScopesNest) {
  const Tensor a = random_tensor({2, 2}, 1);
  const Autocast outer(DType::bf16);
  {
    const Autocast inner(DType::f16);
    EXPECT_EQ(matmul(a, a).dtype(), DType::f16);
    const Autocast off(DType::f32);
    EXPECT_EQ(matmul(a, a).dtype(), DType::f32);
  }
  EXPECT_EQ(autocast_dtype(), DType::bf16);
  std::thread([] { EXPECT_EQ(autocast_dtype(), DType::f32); }).join();
}

TEST(Autocast, RefusesOtherDTypes) {
  expect_refused({refused<DTypeError>("f64", {"bf16 or f16", "f64"}, [] { Autocast(DType::f64); }),
                  refused<DTypeError>("i32", {"bf16 or f16", "i32"}, [] { Autocast(DType::i32); })});
  EXPECT_EQ(autocast_dtype(), DType::f32);
}

/// backward() may stand inside of the scope or behind it.
TEST(Autocast, GradientsKeepTheDTypeOfTheirLeaf) {
  std::vector<std::vector<double>> found;
  for (bool inside : {false, true}) {
    Tensor w = weight({4, 6}, 1), b = weight({4}, 2);
    Tensor value;
    {
      const Autocast scope(DType::bf16);
      value = sum(linear(random_tensor({3, 6}, 3), w, b));
      if (inside) value.backward();
    }
    if (!inside) value.backward();
    EXPECT_EQ(w.grad().dtype(), DType::f32);
    EXPECT_EQ(b.grad().dtype(), DType::f32);
    EXPECT_EQ(b.grad().to_doubles(), (std::vector<double>{3, 3, 3, 3}));
    found.push_back(w.grad().to_doubles());
  }
  EXPECT_EQ(found[0], found[1]);
}

/// The sum over what was broadcast stays in the half type that its gradient has to have.
TEST(Autocast, BackwardComputesWithoutAScope) {
  std::vector<std::vector<double>> found;
  for (bool inside : {false, true}) {
    Tensor w = weight({5, 4, 2}, 1);
    Tensor value;
    {
      const Autocast scope(DType::bf16);
      value = sum(matmul(random_tensor({2, 1, 3, 4}, 2), w));
      if (inside) value.backward();
    }
    if (!inside) value.backward();
    found.push_back(w.grad().to_doubles());
  }
  EXPECT_EQ(found[0], found[1]);
}

TEST(Autocast, SecondGradients) {
  Tensor w = weight({3, 3}, 1);
  Tensor slope;
  {
    const Autocast scope(DType::bf16);
    const Tensor product = matmul(random_tensor({2, 3}, 2), w);
    const Tensor y = sum(product * product);
    slope = grad({y}, {w}, {.create_graph = true})[0];
    EXPECT_EQ(slope.dtype(), DType::f32);
  }
  sum(slope).backward();
  EXPECT_EQ(w.grad().dtype(), DType::f32);
}

TEST(Autocast, CastsAWeightOnce) {
  const Tensor x = random_tensor({3, 4}, 1);
  Tensor w = weight({4, 4}, 2);
  const Autocast scope(DType::bf16);
  const CastCount casts;
  const Tensor y = matmul(matmul(x, w), w);
  EXPECT_EQ(casts(), 2);  // of x and w
  sum(y).backward();
  EXPECT_EQ(casts(), 5);  // the sum's operand, its gradient, and that of w
}

/// What was cast before is not taken again once the weight has changed, was replaced, is wanted with a
/// gradient or in another dtype, or backward() has been there.
TEST(Autocast, CastsAgainWhatHasChanged) {
  const Tensor x = random_tensor({3, 4}, 1);
  Tensor w = weight({4, 4}, 2);
  const Autocast scope(DType::bf16);
  auto expected = [&] { return matmul(cast(x, DType::bf16), cast(w, DType::bf16)).to_doubles(); };
  {
    const NoGrad no_grad;
    EXPECT_FALSE(matmul(x, w).requires_grad());
  }
  Tensor y = matmul(x, w);
  EXPECT_TRUE(y.requires_grad());
  sum(y).backward();
  sum(matmul(x, w)).backward();
  EXPECT_EQ(matmul(x, w).to_doubles(), expected());  // a cast that no pass has freed
  {
    const NoGrad no_grad;
    copy_into(w.detach(), random_tensor({4, 4}, 3));
  }
  EXPECT_EQ(matmul(x, w).to_doubles(), expected());
  {
    const NoGrad no_grad;
    w.assign(random_tensor({4, 4}, 5));
  }
  EXPECT_EQ(matmul(x, w).to_doubles(), expected());
  const Autocast other(DType::f16);
  EXPECT_EQ(matmul(x, w).dtype(), DType::f16);
}

/// Rules may consist of ops that a scope would cast, and so may what is updated in place.
TEST(Autocast, LeavesUpdatesAlone) {
  Tensor one = weight({4, 4}, 2), other = weight({4, 4}, 2);
  auto update = [](Tensor& w) {
    w.set_grad(random_tensor({4, 4}, 3));
    make_optimizer("muon", {{"w", w}}, 0.1)->step();
  };
  update(one);
  const Autocast scope(DType::f16);
  update(other);
  EXPECT_EQ(one.to_doubles(), other.to_doubles());
}

/// All that multiplies matrices computes in the half type, and has a variant that every machine can run.
TEST(Autocast, WidenedVariantsAreThere) {
  int low = 0;
  for (const Op* op : registry().ops()) {
    if (op->autocast != AutocastPolicy::low) continue;
    ++low;
    EXPECT_TRUE(op->dtypes.contains(DType::bf16) && op->dtypes.contains(DType::f16)) << op->name;
    bool widened = false;
    for (const Variant& variant : op->variants) widened |= std::string("widened") == variant.name;
    EXPECT_TRUE(widened) << op->name;
  }
  EXPECT_GE(low, 12);
}

}  // namespace
}  // namespace treadle
