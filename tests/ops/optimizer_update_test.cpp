/// The update ops of every rule: numbers in a tensor or in the options, one parameter or all, any number of
/// threads.
#include <gtest/gtest.h>

#include <cstring>

#include "tests/goldens/golden_numbers.h"
#include "treadle/core/error.h"
#include "treadle/core/parallel_for.h"
#include "treadle/graph/registry.h"
#include "treadle/ops/layout/cast.h"
#include "treadle/ops/layout/copy.h"
#include "treadle/ops/layout/views.h"
#include "treadle/ops/update/optimizer_update.h"
#include "treadle/optim/sgd/sgd.h"

namespace treadle {
namespace {

/// An update by one of a rule's examples.
struct Update {
  const Rule& rule;
  const NamedOptions& example;
  const RuleForm& form;

  std::string name() const { return rule.name + " " + example.name; }
  size_t operands() const { return form.slots.size() + 2; }
  /// Of one parameter; the numbers are in the options, and perhaps in a tensor.
  void one(std::vector<Tensor> group, const Tensor& numbers, double rate, int64_t step) const {
    if (numbers.defined()) group.push_back(numbers);
    apply_in_place(op_named(form.update), group, rule.at(example.options, rate, step));
  }
  void all(std::vector<Tensor> groups, const Tensor& numbers, double rate, int64_t step) const {
    groups.insert(groups.begin(), numbers);
    apply_in_place(op_named(form.update_all), groups, rule.at(example.options, rate, step));
  }
};

std::vector<Update> updates() {
  std::vector<Update> list;
  for (const Rule& rule : known_rules())
    for (const NamedOptions& example : rule.examples)
      list.push_back({rule, example, rule.form_for(example.options)});
  return list;
}

/// One parameter's operands: known values, a gradient, and what two steps before left.
std::vector<Tensor> group_of(const Update& update, const Shape& shape, DType dtype, Device device,
                             uint32_t seed) {
  auto numbers = [&](uint32_t hash) { return to(cast(goldens::signed_tensor(hash, shape), dtype), device); };
  std::vector<Tensor> group{numbers(seed), numbers(seed + 1)};
  while (group.size() < update.operands()) group.push_back(Tensor::zeros(shape, dtype, device));
  for (int64_t step = 1; step <= 2; ++step) {
    update.one(group, {}, 0.01, step);
    group[1] = numbers(seed + 1 + uint32_t(step));
  }
  return group;
}

/// Parameters of several sizes: in one range of all elements, cuts fall inside and between them.
std::vector<Tensor> groups_of(const Update& update, DType dtype, Device device) {
  std::vector<Tensor> groups;
  uint32_t seed = 7000;
  for (const Shape& shape :
       {Shape{3, 5}, Shape{1}, Shape{20000}, Shape{0, 4}, Shape{7, 3, 3, 3}, Shape{30001}})
    for (Tensor& operand : group_of(update, shape, dtype, device, seed += 100))
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

/// Learning rates and steps that an update must read from the tensor: those in the options differ.
TEST(OptimizerUpdate, NumbersInATensorGiveTheBitsOfTheOptions) {
  for (const Update& update : updates())
    for (Device device : {kCpu, kSimt})
      for (DType dtype : {DType::f32, DType::f64, DType::f16, DType::bf16})
        for (auto [rate, step] : {std::pair{0.1, int64_t(1)}, {3e-4, int64_t(2)}, {1e-3, int64_t(1000)}}) {
          auto expected = group_of(update, {1027}, dtype, device, 6000), actual = copies_of(expected);
          update.one(expected, {}, rate, step);
          Tensor numbers = Tensor::from(std::vector<double>{rate, double(step)}, {2}, device);
          update.one(actual, numbers, 17., 5);
          expect_same_bits(actual, expected,
                           fmt::format("{} {} {} step {}", update.name(), device, name_of(dtype), step));
        }
}

TEST(OptimizerUpdate, AllAtOnceGiveTheBitsOfOneByOne) {
  for (const Update& update : updates())
    for (Device device : {kCpu, kSimt})
      for (DType dtype : {DType::f32, DType::f64, DType::bf16})
        for (bool tensor : {false, true}) {
          auto expected = groups_of(update, dtype, device), actual = copies_of(expected);
          for (auto group = expected.begin(); group != expected.end(); group += int64_t(update.operands()))
            update.one({group, group + int64_t(update.operands())}, {}, 0.01, 3);
          Tensor numbers;
          if (tensor) numbers = Tensor::from(std::vector<double>{0.01, 3}, {2}, device);
          update.all(actual, numbers, tensor ? 17. : 0.01, tensor ? 5 : 3);
          expect_same_bits(actual, expected, fmt::format("{} {} {}", update.name(), device, name_of(dtype)));
        }
}

std::vector<Tensor> cast_all(const std::vector<Tensor>& tensors, DType dtype) {
  std::vector<Tensor> results;
  for (const Tensor& tensor : tensors) results.push_back(cast(tensor, dtype));
  return results;
}

/// Half types are computed in float and rounded once, in dense memory and in every second element of other
/// memory.
TEST(OptimizerUpdate, OperandsAtAnyStepGiveTheBitsOfDenseFloats) {
  constexpr int64_t kCount = 1027;
  for (const Update& update : updates())
    for (DType dtype : {DType::f32, DType::f16, DType::bf16}) {
      const std::string name = fmt::format("{} {}", update.name(), name_of(dtype));
      auto dense = group_of(update, {kCount}, dtype, kCpu, 6000);
      std::vector<Tensor> strided;
      for (const Tensor& operand : dense) {
        strided.push_back(slice(Tensor::zeros({2 * kCount}, dtype), 0, 0, 2 * kCount, 2));
        copy_into(strided.back(), operand);
      }
      auto floats = copies_of(cast_all(dense, DType::f32));
      for (auto* group : {&dense, &strided, &floats}) update.one(*group, {}, 0.01, 3);
      const auto expected = cast_all(floats, dtype);
      expect_same_bits(dense, expected, name);
      expect_same_bits(strided, expected, name + " strided");
    }
}

TEST(OptimizerUpdate, TheBitsDoNotDependOnTheNumberOfThreads) {
  const int before = num_threads();
  for (const Update& update : updates()) {
    const auto start = groups_of(update, DType::f32, kCpu);
    auto expected = start;
    for (int threads : {2, 3, 1}) {
      set_num_threads(threads);
      auto actual = copies_of(start);
      update.all(actual, {}, 0.01, 3);
      if (threads == 2) expected = actual;
      expect_same_bits(actual, expected, fmt::format("{}, {} threads", update.name(), threads));
    }
  }
  set_num_threads(before);
}

TEST(OptimizerUpdate, RefusesOperandsAndNumbersThatDoNotFit) {
  for (const Update& update : updates()) {
    SCOPED_TRACE(update.name());
    const std::vector<Tensor> group(update.operands(), Tensor::zeros({3}));
    auto with = [&](size_t operand, const Tensor& tensor) {
      auto other = group;
      other[operand] = tensor;
      return other;
    };
    for (size_t k = 1; k < group.size(); ++k) {
      EXPECT_THROW(update.one(with(k, Tensor::zeros({2})), {}, 1, 1), ShapeError) << k;
      EXPECT_THROW(update.all(with(k, Tensor::zeros({2})), {}, 1, 1), ShapeError) << k;
      EXPECT_THROW(update.one(with(k, Tensor::zeros({3}, DType::f64)), {}, 1, 1), DTypeError) << k;
      EXPECT_THROW(update.all(with(k, Tensor::zeros({3}, DType::f64)), {}, 1, 1), DTypeError) << k;
    }
    const std::vector<Tensor> short_group(group.begin() + 1, group.end());
    EXPECT_THROW(update.one(short_group, {}, 1, 1), ValueError);
    EXPECT_THROW(update.all(short_group, {}, 1, 1), ValueError);
    EXPECT_THROW(update.one(group, Tensor::zeros({2}), 1, 1), DTypeError);
    EXPECT_THROW(update.one(group, Tensor::zeros({3}, DType::f64), 1, 1), ShapeError);
    EXPECT_THROW(update.all(group, Tensor::zeros({2}, DType::f64, kSimt), 1, 1), DeviceError);
    EXPECT_THROW(update.one(group, {}, 1, 0), ValueError);
    EXPECT_THROW(update.all(group, {}, 1, 0), ValueError);
  }
}

/// Options that another of the rules serves, which keeps something else.
TEST(OptimizerUpdate, RefusesTheOptionsOfAnotherForm) {
  for (const Update& update : updates())
    for (const Update& other : updates()) {
      if (&update.rule != &other.rule || &update.form == &other.form) continue;
      const std::vector<Tensor> group(update.operands(), Tensor::zeros({3}));
      EXPECT_THROW(
          apply_in_place(op_named(update.form.update), group, other.rule.at(other.example.options, 0.1, 1)),
          ValueError)
          << update.name() << " by " << other.name();
    }
}

TEST(OptimizerUpdate, TypedFunctionsAreTheOps) {
  const Tensor numbers = Tensor::zeros({2}, DType::f64), p = Tensor::zeros({3}), g = Tensor::zeros({3});
  EXPECT_NO_THROW(update_parameters<SgdRule>(numbers, {}, {}));
  EXPECT_NO_THROW(update_parameters<SgdRule>(numbers, {p, g}, {}));
  EXPECT_NO_THROW(update_parameter<SgdRule>({p, g}, {}, numbers));
  EXPECT_THROW(update_parameter<SgdRule>({p, g}, {{.momentum = 0.5}}), ValueError);
}

}  // namespace
}  // namespace treadle
