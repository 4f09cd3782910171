/// Clipping of gradients: its corners, and that compiled steps do the same. Its numbers are compared with
/// PyTorch's elsewhere.
#include "treadle/optim/clip_gradients.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/compile/options.h"
#include "tests/goldens/golden_numbers.h"
#include "tests/refused.h"
#include "treadle/compile/compile.h"
#include "treadle/core/error.h"
#include "treadle/ops/layout/cast.h"
#include "treadle/ops/layout/copy.h"
#include "treadle/ops/pointwise/pointwise.h"
#include "treadle/ops/reduce/reduce.h"
#include "treadle/optim/optimizer.h"

namespace treadle {
namespace {

Tensor with_gradient(const std::vector<float>& gradient, DType dtype = DType::f32) {
  const Shape shape{int64_t(gradient.size())};
  Tensor p = Tensor::zeros(shape, dtype).set_requires_grad();
  p.set_grad(cast(Tensor::from(gradient, shape), dtype));
  return p;
}

using Doubles = std::vector<double>;

TEST(ClipGradients, LeavesASmallNormAloneAndScalesALargeOne) {
  const std::vector<Tensor> parameters{with_gradient({3}), Tensor::zeros({2}).set_requires_grad(),
                                       with_gradient({0, -4})};
  EXPECT_EQ(clip_gradient_norm(parameters, 6).item(), 5);
  EXPECT_EQ(parameters[2].grad().to_doubles(), (Doubles{0, -4}));
  EXPECT_EQ(clip_gradient_norm(parameters, INFINITY).item(), 5);
  EXPECT_EQ(parameters[0].grad().to_doubles(), (Doubles{3}));
  EXPECT_FALSE(parameters[1].grad().defined());
  EXPECT_EQ(clip_gradient_norm(parameters, 2.5).item(), 5);
  EXPECT_NEAR(parameters[0].grad().item(), 1.5, 1e-6);
  EXPECT_NEAR(parameters[2].grad().to_doubles()[1], -2, 1e-6);
}

TEST(ClipGradients, NoGradientsHaveTheNormZero) {
  const std::vector<Tensor> parameters{Tensor::zeros({2}).set_requires_grad()};
  EXPECT_EQ(clip_gradient_norm(parameters, 1).item(), 0);
  EXPECT_EQ(clip_gradient_norm({}, 1).item(), 0);
}

/// 300² is more than f16 holds.
TEST(ClipGradients, TheNormOfHalfTypesIsF32) {
  const std::vector<Tensor> parameters{with_gradient({300, 400}, DType::f16)};
  const Tensor norm = clip_gradient_norm(parameters, 250);
  EXPECT_EQ(norm.dtype(), DType::f32);
  EXPECT_EQ(norm.item(), 500);
  EXPECT_EQ(parameters[0].grad().dtype(), DType::f16);
  EXPECT_EQ(parameters[0].grad().to_doubles(), (Doubles{150, 200}));
}

TEST(ClipGradients, ANormThatIsNoneShows) {
  const std::vector<Tensor> parameters{with_gradient({NAN, 1})};
  EXPECT_TRUE(std::isnan(clip_gradient_norm(parameters, 1).item()));
  EXPECT_TRUE(std::isnan(parameters[0].grad().to_doubles()[1]));
}

TEST(ClipGradients, RefusesBoundsThatAreNone) {
  expect_refused({
      refused<ValueError>("negative", {"clip_gradient_norm", "-1"}, [] { clip_gradient_norm({}, -1); }),
      refused<ValueError>("nan", {"clip_gradient_norm", "nan"}, [] { clip_gradient_norm({}, NAN); }),
      refused<ValueError>("values", {"clip_gradient_values", "-1"}, [] { clip_gradient_values({}, -1); }),
  });
}

/// One training step on two parameters, whose gradients are the inputs.
struct Clipped {
  Tensor w, b;
  std::unique_ptr<Optimizer> optimizer;

  explicit Clipped(Device device)
      : w(to(goldens::signed_tensor(1, {3, 67}), device).set_requires_grad()),
        b(to(goldens::signed_tensor(2, {5}), device).set_requires_grad()),
        optimizer(make_optimizer("momentum", {{"w", w}, {"b", b}}, 0.1)) {}

  Tensor operator()(const Tensor& x, const Tensor& y) {
    optimizer->zero_grad();
    (sum(w * x) + sum(b * y)).backward();
    const Tensor parameters[] = {w, b};
    const Tensor norm = clip_gradient_norm(parameters, 2);
    clip_gradient_values(parameters, 0.2);
    optimizer->step();
    return norm;
  }
};

TEST(ClipGradients, CompiledStepsGiveTheBitsOfEagerOnes) {
  for (Device device : {kCpu, kSimt}) {
    Clipped eager(device), recorded(device);
    auto compiled = compile([&](Tensor x, Tensor y) { return recorded(x, y); }, kDeclared);
    for (uint32_t i = 0; i < 5; ++i) {
      const float scale = i % 2 ? 1 : 0.01f;  // above the bound and below
      const Tensor x = to(goldens::signed_tensor(100 + i, {3, 67}, scale), device);
      const Tensor y = to(goldens::signed_tensor(200 + i, {5}, scale), device);
      EXPECT_EQ(compiled(x, y).item(), eager(x, y).item());
      EXPECT_EQ(recorded.w.to_doubles(), eager.w.to_doubles());
      EXPECT_EQ(recorded.b.to_doubles(), eager.b.to_doubles());
    }
    EXPECT_EQ(compiled.programs().size(), 1u);
  }
}

}  // namespace
}  // namespace treadle
