#include "treadle/ops/optimizer_update.h"

#include <gtest/gtest.h>

#include "tests/goldens/golden_numbers.h"
#include "treadle/core/error.h"
#include "treadle/ops/cast.h"

namespace treadle {
namespace {

Tensor ten_numbers(uint32_t seed, DType dtype) { return cast(goldens::signed_tensor(seed, {10}), dtype); }

/// Runs five steps and compares the parameters after each with PyTorch's: in f64 with its f64 result, in f32
/// with the f32 result within the few roundings of each step so far.
template <class Update>
void compare(const char* name, DType dtype, Update update) {
  auto steps = goldens::file()["optimizers"][name]["steps"];
  Tensor parameter = ten_numbers(5000, dtype);
  const double unit = dtype == DType::f64 ? 0x1p-53 : 0x1p-24;
  for (uint32_t step = 0; step < 5; ++step) {
    update(parameter, ten_numbers(5101 + step, dtype), int64_t(step) + 1);
    auto values = parameter.to_doubles();
    for (int i = 0; i < 10; ++i) {
      double wanted = steps[step]["value"][i], exact = wanted - steps[step]["deviation"][i].get<double>();
      EXPECT_NEAR(values[i], dtype == DType::f64 ? exact : wanted, 4 * unit * (step + 1))
          << name << " step " << step;
    }
  }
}

TEST(OptimizerUpdate, SgdEqualsPyTorch) {
  for (DType dtype : {DType::f32, DType::f64}) {
    Tensor buffer = Tensor::zeros({10}, dtype);
    auto options = goldens::file()["optimizers"]["sgd"]["options"];
    compare("sgd", dtype, [&](const Tensor& parameter, const Tensor& gradient, int64_t step) {
      sgd_update(parameter, gradient, buffer,
                 {options["lr"], options["momentum"], options["dampening"], options["weight_decay"],
                  options["nesterov"], step == 1});
    });
  }
}

TEST(OptimizerUpdate, AdamAndAdamWEqualPyTorch) {
  for (const char* name : {"adam", "adamw"}) {
    for (DType dtype : {DType::f32, DType::f64}) {
      Tensor first = Tensor::zeros({10}, dtype), second = Tensor::zeros({10}, dtype);
      auto options = goldens::file()["optimizers"][name]["options"];
      compare(name, dtype, [&](const Tensor& parameter, const Tensor& gradient, int64_t step) {
        adam_update(parameter, gradient, first, second,
                    {options["lr"], options["betas"][0], options["betas"][1], options["eps"],
                     options["weight_decay"], std::string(name) == "adamw", step});
      });
    }
  }
}

TEST(OptimizerUpdate, RefusesOperandsThatDoNotFit) {
  Tensor p = Tensor::zeros({3}), g = Tensor::zeros({3}), wrong = Tensor::zeros({2});
  EXPECT_THROW(sgd_update(p, wrong, {}, {}), ShapeError);
  EXPECT_THROW(sgd_update(p, Tensor::zeros({3}, DType::f64), {}, {}), DTypeError);
  EXPECT_THROW(sgd_update(p, g, {}, {.momentum = 0.9}), ValueError);
  EXPECT_THROW(adam_update(p, g, g, wrong, {}), ShapeError);
  EXPECT_THROW(adam_update(p, g, Tensor::zeros({3}), Tensor::zeros({3}), {.step = 0}), ValueError);
}

}  // namespace
}  // namespace treadle
