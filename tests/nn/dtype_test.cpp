/// Module::to(dtype): what is converted, what stays, and who goes on with it.
#include <gtest/gtest.h>

#include "treadle/compile/compile.h"
#include "treadle/core/error.h"
#include "treadle/models/model.h"
#include "treadle/nn/linear.h"
#include "treadle/nn/summary.h"
#include "treadle/ops/layout/cast.h"
#include "treadle/ops/pointwise/pointwise.h"
#include "treadle/ops/random/random.h"
#include "treadle/ops/reduce/reduce.h"
#include "treadle/optim/adam/adam.h"
#include "treadle/optim/sgd/sgd.h"

namespace treadle {
namespace {

/// A weight, a mean and a count, as batch normalisation has them.
class MixedParts final : public Module {
 public:
  MixedParts() {
    register_parameter("weight", rand({2, 3}));
    register_buffer("mean", rand({3}));
    register_buffer("count", Tensor::from(std::vector<int64_t>{7}, {1}));
  }
  std::string describe() const override { return "MixedParts"; }

 protected:
  Tensor forward(const Tensor& x) override { return x * parameters()[0] + named_buffers()[0].tensor; }
};

TEST(ModuleDType, FloatsAreConvertedAndIntegersStay) {
  for (DType dtype : {DType::f64, DType::f16, DType::bf16}) {
    MixedParts parts;
    const Tensor weight = parts.parameters()[0], before = cast(weight.detach(), dtype);
    parts.to(dtype);
    EXPECT_EQ(weight.dtype(), dtype) << name_of(dtype);  // whoever holds the tensor holds the new one
    EXPECT_EQ(weight.to_doubles(), before.to_doubles());
    EXPECT_TRUE(weight.requires_grad());
    EXPECT_EQ(parts.named_buffers()[0].tensor.dtype(), dtype);
    EXPECT_FALSE(parts.named_buffers()[0].tensor.requires_grad());
    EXPECT_EQ(parts.named_buffers()[1].tensor.to_vector<int64_t>(), std::vector<int64_t>{7});
  }
}

TEST(ModuleDType, OnlyFloatsAreTaken) {
  MixedParts parts;
  for (DType dtype : {DType::i64, DType::u8, DType::boolean}) EXPECT_THROW(parts.to(dtype), DTypeError);
  EXPECT_EQ(parts.parameters()[0].dtype(), DType::f32);
}

TEST(ModuleDType, ThereAndBackKeepsValuesLayoutAndFrozenParameters) {
  Linear layer(7, 3);
  const auto before = layer.weight.to_vector<float>();
  const Strides input_by_input{1, 3};
  layer.bias.set_requires_grad(false);
  layer.to(DType::f64);
  EXPECT_EQ(layer.weight.strides(), input_by_input);
  layer.to(DType::f32);
  EXPECT_EQ(layer.weight.strides(), input_by_input);
  EXPECT_EQ(layer.weight.to_vector<float>(), before);
  EXPECT_TRUE(layer.weight.requires_grad());
  EXPECT_FALSE(layer.bias.requires_grad());
}

TEST(ModuleDType, GradientsOfTheOldDTypeAreDropped) {
  Linear layer(3, 2);
  sum(layer(rand({4, 3}))).backward();
  layer.to(DType::f64);
  EXPECT_FALSE(layer.weight.grad().defined());
  sum(layer(cast(rand({4, 3}), DType::f64))).backward();
  EXPECT_EQ(layer.weight.grad().dtype(), DType::f64);
}

TEST(ModuleDType, ModelsComputeInIt) {
  auto model = make_model("lenet5");
  const Tensor x = rand({2, 1, 28, 28});
  const auto exact = (model->to(DType::f64), (*model)(cast(x, DType::f64)).to_doubles());
  const struct {
    DType dtype;
    double tolerance;  ///< of logits below 1: some hundred roundings of terms that are smaller still
  } cases[] = {{DType::f32, 1e-5}, {DType::f16, 1e-2}, {DType::bf16, 1e-1}};
  for (auto [dtype, tolerance] : cases) {
    model = make_model("lenet5");
    model->to(dtype);
    const Tensor y = (*model)(cast(x, dtype));
    EXPECT_EQ(y.dtype(), dtype);
    const auto values = y.to_doubles();
    for (size_t i = 0; i < values.size(); ++i) EXPECT_NEAR(values[i], exact[i], tolerance) << name_of(dtype);
  }
}

TEST(ModuleDType, CompiledFunctionsFollow) {
  Linear layer(3, 2);
  // Of the variants that eager calls take: others round in other ways.
  auto run = compile([&](const Tensor& x) { return layer(x); }, {.measure = false});
  const Tensor x = rand({4, 3});
  run(x);
  layer.to(DType::f64);
  const Tensor wide = cast(x, DType::f64);
  EXPECT_EQ(run(wide).to_vector<double>(), layer(wide).to_vector<double>());
  layer.to(DType::f32);
  EXPECT_EQ(run(x).to_vector<float>(), layer(x).to_vector<float>());
}

TEST(ModuleDType, AnOptimizerWithAStateRefuses) {
  Linear layer(3, 2);
  auto train = [&](Optimizer& optimizer, DType dtype) {
    sum(layer(cast(rand({4, 3}), dtype))).backward();
    optimizer.step();
  };
  Adam adam(layer.named_parameters(), 0.1);
  train(adam, DType::f32);
  layer.to(DType::f64);
  const auto before = layer.weight.to_vector<double>();
  EXPECT_THROW(train(adam, DType::f64), DTypeError);
  EXPECT_EQ(layer.weight.to_vector<double>(), before);
  EXPECT_EQ(adam.step_count(), 1);
  Adam anew(layer.named_parameters(), 0.1);
  train(anew, DType::f64);
  EXPECT_NE(layer.weight.to_vector<double>(), before);
  Sgd without_state(layer.named_parameters(), 0.1);
  layer.to(DType::f32);
  EXPECT_NO_THROW(train(without_state, DType::f32));
}

TEST(ModuleDType, SummariesCountItsBytes) {
  Linear layer(3, 2);
  layer.to(DType::f16);
  const ModelSummary summary = summarize(layer, {4, 3});
  EXPECT_EQ(summary.parameter_bytes, 2 * 8);
  EXPECT_EQ(summary.input_bytes, 2 * 12);
  EXPECT_EQ(summary.activation_bytes, 2 * 8);
}

}  // namespace
}  // namespace treadle
