/// Compiled functions under Autocast: what is cast is part of the program.
#include "treadle/graph/autocast.h"

#include <gtest/gtest.h>

#include "tests/compile/names_of_steps.h"
#include "tests/compile/options.h"
#include "tests/random_tensor.h"
#include "treadle/compile/compile.h"
#include "treadle/graph/autograd.h"
#include "treadle/models/model.h"
#include "treadle/ops/layout/copy.h"
#include "treadle/ops/matrix/matmul.h"
#include "treadle/ops/pointwise/pointwise.h"
#include "treadle/ops/reduce/reduce.h"
#include "treadle/train/class_loss.h"

namespace treadle {
namespace {

class AutocastModels : public testing::TestWithParam<std::string> {};

Tensor counted_classes(const Shape& shape, int64_t classes) {
  std::vector<int64_t> values(size_t(shape.numel()));
  for (size_t i = 0; i < values.size(); ++i) values[i] = int64_t(i * 7) % classes;
  return Tensor::from(values, shape);
}

/// Loss and gradients of each model, whose layers all run: the same bits eager and compiled, and gradients in
/// f32.
TEST_P(AutocastModels, CompiledEqualsEager) {
  const ModelInfo& info = model_info(GetParam());
  const bool numbers = info.input_dtype == DType::i64;
  Shape batch{2};
  for (int64_t extent : info.input) batch.push_back(extent);
  const Tensor x = numbers ? counted_classes(batch, info.classes) : random_tensor(batch, 1),
               labels = counted_classes(numbers ? batch : Shape{2}, info.classes);
  for (DType dtype : {DType::bf16, DType::f16}) {
    auto gradients = [&](bool compiled, Tensor& loss) {
      auto model = make_model(GetParam(), 3);
      auto step = [&](const Tensor& of, const Tensor& wanted) {
        const Autocast scope(dtype);
        const Tensor value = class_loss((*model)(of), wanted);
        value.backward();
        return value;
      };
      auto program = compile([&](Tensor of, Tensor wanted) { return step(of, wanted); }, kUnfused);
      default_generator() = Generator(5);
      loss = compiled ? program(x, labels) : step(x, labels);
      std::vector<Tensor> found;
      for (const Tensor& parameter : model->parameters()) found.push_back(parameter.grad());
      return found;
    };
    Tensor eager_loss, loss;
    const auto wanted = gradients(false, eager_loss), found = gradients(true, loss);
    EXPECT_EQ(loss.dtype(), DType::f32);
    EXPECT_EQ(loss.item(), eager_loss.item()) << name_of(dtype);
    for (size_t i = 0; i < wanted.size(); ++i) {
      ASSERT_EQ(found[i].dtype(), DType::f32);
      EXPECT_EQ(found[i].to_doubles(), wanted[i].to_doubles()) << name_of(dtype) << " parameter " << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, AutocastModels, testing::ValuesIn(model_names()),
                         [](const auto& info) { return info.param; });

/// A scope around the call counts as one inside, and each dtype has a program.
TEST(AutocastPrograms, OneForEachDType) {
  const Tensor a = random_tensor({3, 4}, 1), b = random_tensor({4, 2}, 2);
  auto product = compile([](Tensor x, Tensor y) { return matmul(x, y); }, kDeclared);
  EXPECT_EQ(product(a, b).dtype(), DType::f32);
  {
    const Autocast scope(DType::bf16);
    EXPECT_EQ(product(a, b).dtype(), DType::bf16);
    EXPECT_EQ(product(a, b).to_doubles(), matmul(a, b).to_doubles());
  }
  EXPECT_EQ(product(a, b).dtype(), DType::f32);
  ASSERT_EQ(product.programs().size(), 2u);
  EXPECT_NE(product.programs()[0].signature, product.programs()[1].signature);
}

/// What an eager call cast within the scope is not the program's: its weight changes.
TEST(AutocastPrograms, CastTheirOwnWeights) {
  Tensor w = random_tensor({4, 4}, 1).detach().set_requires_grad();
  const Tensor x = random_tensor({2, 4}, 2);
  const Autocast scope(DType::bf16);
  matmul(x, w);
  auto twice = compile([&](Tensor of) { return matmul(matmul(of, w), w); }, kUnfused);
  const NoGrad no_grad;
  for (int call = 0; call < 3; ++call) {
    EXPECT_EQ(twice(x).to_doubles(), matmul(matmul(x, w), w).to_doubles()) << call;
    copy_into(w.detach(), random_tensor({4, 4}, uint64_t(10 + call)));
  }
  const auto steps = names_of_steps(*twice.programs()[0].program);
  EXPECT_EQ(std::count(steps.begin(), steps.end(), "cast"), 2) << "x and w";
}

}  // namespace
}  // namespace treadle
