#include "treadle/ops/update/optimizer_update.h"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>

#include "tests/goldens/golden_numbers.h"
#include "treadle/core/error.h"
#include "treadle/core/parallel_for.h"
#include "treadle/ops/layout/cast.h"
#include "treadle/ops/layout/copy.h"

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

/// One parameter's operands with known values; second moments are positive.
std::vector<Tensor> group_of(int operands, const Shape& shape, DType dtype, Device device, uint32_t seed) {
  std::vector<Tensor> group;
  for (int k = 0; k < operands; ++k) {
    const uint32_t hash = seed + 10 * uint32_t(k);
    Tensor values = k == 3 ? goldens::uniform_tensor(hash, shape) : goldens::signed_tensor(hash, shape);
    group.push_back(to(cast(values, dtype), device));
  }
  return group;
}

/// Parameters of several sizes: in one range of all elements, cuts fall inside and between them.
std::vector<Tensor> groups_of(int operands, DType dtype, Device device) {
  std::vector<Tensor> groups;
  uint32_t seed = 7000;
  for (const Shape& shape :
       {Shape{3, 5}, Shape{1}, Shape{20000}, Shape{0, 4}, Shape{7, 3, 3, 3}, Shape{30001}})
    for (Tensor& operand : group_of(operands, shape, dtype, device, seed += 100))
      groups.push_back(std::move(operand));
  return groups;
}

std::vector<Tensor> copies_of(const std::vector<Tensor>& tensors) {
  std::vector<Tensor> copies;
  for (const Tensor& tensor : tensors) copies.push_back(clone(tensor));
  return copies;
}

void expect_same_bits(const std::vector<Tensor>& a, const std::vector<Tensor>& b, const std::string& what) {
  for (size_t i = 0; i < a.size(); ++i) {
    auto x = a[i].to_doubles(), y = b[i].to_doubles();
    EXPECT_TRUE(x.empty() || std::memcmp(x.data(), y.data(), x.size() * sizeof(double)) == 0)
        << what << ", operand " << i;
  }
}

/// An update of one parameter and of all, with the numbers in the options or in a tensor.
struct Update {
  std::string name;
  int operands;
  std::function<void(const Tensor* group, const Tensor& numbers, double rate, int64_t step)> one;
  std::function<void(const std::vector<Tensor>& groups, const Tensor& numbers, double rate, int64_t step)>
      all;
};

std::vector<Update> updates() {
  auto sgd = [](double momentum, double rate, int64_t step) {
    return SgdUpdateOptions{rate, momentum, 0, 5e-4, momentum > 0, step == 1};
  };
  auto adam = [](bool decoupled, double rate, int64_t step) {
    return AdamUpdateOptions{rate, 0.9, 0.999, 1e-8, 0.01, decoupled, step};
  };
  std::vector<Update> list{
      {"sgd", 2,
       [=](auto* g, auto& n, double rate, int64_t step) {
         sgd_update(g[0], g[1], {}, sgd(0, rate, step), n);
       },
       [=](auto& g, auto& n, double rate, int64_t step) { sgd_update_all(n, g, sgd(0, rate, step)); }},
      {"momentum", 3,
       [=](auto* g, auto& n, double rate, int64_t step) {
         sgd_update(g[0], g[1], g[2], sgd(0.9, rate, step), n);
       },
       [=](auto& g, auto& n, double rate, int64_t step) {
         sgd_momentum_update_all(n, g, sgd(0.9, rate, step));
       }}};
  for (bool decoupled : {false, true})
    list.push_back({decoupled ? "adamw" : "adam", 4,
                    [=](auto* g, auto& n, double rate, int64_t step) {
                      adam_update(g[0], g[1], g[2], g[3], adam(decoupled, rate, step), n);
                    },
                    [=](auto& g, auto& n, double rate, int64_t step) {
                      adam_update_all(n, g, adam(decoupled, rate, step));
                    }});
  return list;
}

/// Learning rates and steps that an update must read from the tensor: those in the options differ.
TEST(OptimizerUpdate, NumbersInATensorGiveTheBitsOfTheOptions) {
  for (const Update& update : updates())
    for (Device device : {kCpu, kSimt})
      for (DType dtype : {DType::f32, DType::f64, DType::f16, DType::bf16})
        for (auto [rate, step] : {std::pair{0.1, int64_t(1)}, {3e-4, int64_t(2)}, {1e-3, int64_t(1000)}}) {
          auto expected = group_of(update.operands, {1027}, dtype, device, 6000),
               actual = copies_of(expected);
          update.one(expected.data(), {}, rate, step);
          Tensor numbers = Tensor::from(std::vector<double>{rate, double(step)}, {2}, device);
          update.one(actual.data(), numbers, 17., 5);
          expect_same_bits(actual, expected,
                           fmt::format("{} {} {} step {}", update.name, device, name_of(dtype), step));
        }
}

TEST(OptimizerUpdate, AllAtOnceGiveTheBitsOfOneByOne) {
  for (const Update& update : updates())
    for (Device device : {kCpu, kSimt})
      for (DType dtype : {DType::f32, DType::f64, DType::bf16})
        for (bool tensor : {false, true}) {
          auto expected = groups_of(update.operands, dtype, device), actual = copies_of(expected);
          for (size_t i = 0; i < expected.size(); i += size_t(update.operands))
            update.one(&expected[i], {}, 0.01, 3);
          Tensor numbers;
          if (tensor) numbers = Tensor::from(std::vector<double>{0.01, 3}, {2}, device);
          update.all(actual, numbers, tensor ? 17. : 0.01, tensor ? 5 : 3);
          expect_same_bits(actual, expected, fmt::format("{} {} {}", update.name, device, name_of(dtype)));
        }
}

TEST(OptimizerUpdate, TheBitsDoNotDependOnTheNumberOfThreads) {
  const int before = num_threads();
  for (const Update& update : updates()) {
    auto expected = groups_of(update.operands, DType::f32, kCpu);
    for (int threads : {2, 3, 1}) {
      set_num_threads(threads);
      auto actual = copies_of(groups_of(update.operands, DType::f32, kCpu));
      update.all(actual, {}, 0.01, 3);
      if (threads == 2) expected = actual;
      expect_same_bits(actual, expected, fmt::format("{}, {} threads", update.name, threads));
    }
  }
  set_num_threads(before);
}

TEST(OptimizerUpdate, RefusesGroupsAndNumbersThatDoNotFit) {
  Tensor p = Tensor::zeros({3}), g = Tensor::zeros({3}), wrong = Tensor::zeros({2});
  const Tensor numbers = Tensor::zeros({2}, DType::f64);
  EXPECT_THROW(sgd_update_all(numbers, {p, g, p}, {}), ValueError);
  EXPECT_THROW(sgd_update_all(numbers, {p, g, p, wrong}, {}), ShapeError);
  EXPECT_THROW(sgd_update_all(numbers, {p, g, cast(p, DType::f64), cast(g, DType::f64)}, {}), DTypeError);
  EXPECT_THROW(sgd_update_all(numbers, {p, g}, {.momentum = 0.9}), ValueError);
  EXPECT_THROW(sgd_update(p, g, {}, {}, Tensor::zeros({2})), DTypeError);
  EXPECT_THROW(sgd_update(p, g, {}, {}, Tensor::zeros({3}, DType::f64)), ShapeError);
  EXPECT_THROW(sgd_update_all(to(numbers, kSimt), {p, g}, {}), DeviceError);
  EXPECT_THROW(adam_update_all({}, {p, g, p, g}, {.step = 0}), ValueError);
  sgd_update_all(numbers, {}, {});
}

}  // namespace
}  // namespace treadle
