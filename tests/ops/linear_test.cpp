/// The fused ops around linear against the ops they stand for.
#include "treadle/ops/matrix/linear.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <limits>
#include <utility>

#include "treadle/core/error.h"
#include "treadle/core/parallel_for.h"
#include "treadle/graph/autograd.h"
#include "treadle/graph/registry.h"
#include "treadle/graph/settings.h"
#include "treadle/ops/layout/copy.h"
#include "treadle/ops/layout/views.h"
#include "treadle/ops/matrix/linear_update.h"
#include "treadle/ops/matrix/matmul.h"
#include "treadle/ops/pointwise/pointwise.h"
#include "treadle/ops/random/random.h"
#include "treadle/ops/reduce/reduce.h"
#include "treadle/optim/rule_optimizer.h"

namespace treadle {
namespace {

Tensor numbers(const Shape& shape, int seed) {
  Tensor x = Tensor::zeros(shape);
  uint32_t state = uint32_t(seed) * 2654435761u + 1;
  for (int64_t i = 0; i < x.numel(); ++i) {
    state = state * 1664525u + 1013904223u;
    x.view().as<float>()[i] = float(state >> 8) * 0x1p-23f - 1;
  }
  return x;
}

/// The same elements with strides (1, rows).
Tensor by_input(const Tensor& x) {
  Tensor y = Tensor::empty_strided(x.shape(), {1, x.size(0)}, DType::f32, kCpu);
  copy_into(y, x);
  return y;
}

void expect_same_bits(const Tensor& a, const Tensor& b) {
  ASSERT_EQ(a.shape(), b.shape());
  EXPECT_EQ(std::memcmp(a.view().data, b.view().data, size_t(a.numel()) * sizeof(float)), 0);
}

/// Runs `test` with one thread and with three.
template <class Test>
void with_threads(Test test) {
  const int before = num_threads();
  for (int threads : {1, 3}) {
    set_num_threads(threads);
    test();
  }
  set_num_threads(before);
}

/// A parameter and what a rule keeps of it, after two steps of other gradients, which lie as it does.
std::vector<Tensor> parameter_of(const RuleForm& form, const Rule& rule, const Attributes& options,
                                 const Tensor& w) {
  std::vector<Tensor> group{clone(w), Tensor()};
  for (size_t k = 0; k < form.slots.size(); ++k) group.push_back(clone(w * 0.0f));
  for (int step = 1; step <= 2; ++step) {
    group[1] = w * (0.25f * float(step));
    apply_in_place(op_named(form.update), group, rule.at(options, 0.1, step));
  }
  group.erase(group.begin() + 1);
  return group;
}

std::vector<Tensor> joined(const std::vector<std::vector<Tensor>>& lists) {
  std::vector<Tensor> all;
  for (const auto& list : lists) all.insert(all.end(), list.begin(), list.end());
  return all;
}

std::vector<Tensor> clones(const std::vector<Tensor>& tensors) {
  std::vector<Tensor> copies;
  for (const Tensor& tensor : tensors) copies.push_back(clone(tensor));
  return copies;
}

/// The rule's update of one parameter, whose gradient goes behind it.
void update(const RuleForm& form, std::vector<Tensor> group, const Tensor& gradient,
            const Attributes& at_step) {
  group.insert(group.begin() + 1, gradient);
  apply_in_place(op_named(form.update), group, at_step);
}

/// Of rule, layer and layout: one op against two.
void expect_bits_of_two_steps(const Rule& rule, const NamedOptions& example, std::array<int64_t, 3> layer,
                              bool transposed) {
  const auto [N, in, out] = layer;
  const RuleForm& form = rule.form_for(example.options);
  const Tensor x = relu(numbers({N, in}, 1)), dy = numbers({N, out}, 2);
  const Tensor w = transposed ? by_input(numbers({out, in}, 3)) : numbers({out, in}, 3);
  const auto weight = parameter_of(form, rule, example.options, w),
             bias = parameter_of(form, rule, example.options, numbers({out}, 4));
  const Tensor at_step = Tensor::from(std::vector<double>{0.1, 3}, {2});
  const auto w_once = clones(weight), b_once = clones(bias);
  apply_in_place(op_named("linear_" + form.update), joined({{x, dy, at_step}, w_once, b_once}),
                 example.options);
  const auto [dw, db] = linear_weight_gradient(x, dy, {.transposed = transposed});
  EXPECT_EQ(dw.strides(), w.strides());
  update(form, weight, dw, rule.at(example.options, 0.1, 3));
  update(form, bias, db, rule.at(example.options, 0.1, 3));
  const std::string what = fmt::format("{} {}, N {} in {} out {}{}", rule.name, example.name, N, in, out,
                                       transposed ? ", transposed" : "");
  SCOPED_TRACE(what);
  for (size_t k = 0; k < weight.size(); ++k) {
    expect_same_bits(w_once[k], weight[k]);
    expect_same_bits(b_once[k], bias[k]);
  }
}

struct LayersOfVariant {
  const char* variant;
  std::vector<std::array<int64_t, 3>> layers;
};

/// Blocks of the gradient end inside and between rows; parts of a large batch are added up.
std::vector<LayersOfVariant> layers_of_variants() {
  const std::vector<std::array<int64_t, 3>> small{{32, 300, 45}, {1, 70, 9}, {7, 5, 130}, {3, 700, 64}};
  return {{"panels", small}, {"listed", small}, {"split_k", {{300, 20, 45}, {530, 5, 260}, {530, 260, 5}}}};
}

TEST(LinearUpdate, HasTheBitsOfGradientAndUpdate) {
  with_threads([] {
    for (const auto& [variant, layers] : layers_of_variants())
      for (const Rule& rule : known_rules())
        for (const NamedOptions& example : rule.examples)
          for (auto layer : layers)
            for (bool transposed : {false, true}) {
              if (!transposed && variant == std::string("listed")) continue;
              const std::string op = "linear_" + rule.form_for(example.options).update;
              const auto before =
                  std::exchange(settings().variants, {{op, variant}, {"linear_weight_gradient", variant}});
              expect_bits_of_two_steps(rule, example, layer, transposed);
              settings().variants = before;
            }
  });
}

TEST(LinearWeightGradient, SumsDoNotDependOnThreads) {
  const auto before = std::exchange(settings().variants, {{"linear_weight_gradient", "split_k"}});
  std::vector<LinearWeightGradient> results;
  with_threads([&] {
    for (auto [N, in, out] : {std::array<int64_t, 3>{2100, 30, 20}, {300, 20, 45}, {530, 140, 300}})
      results.push_back(linear_weight_gradient(numbers({N, in}, 1), numbers({N, out}, 2), {}));
  });
  settings().variants = before;
  for (size_t i = 0; i < 3; ++i) {
    expect_same_bits(results[i].dw, results[i + 3].dw);
    expect_same_bits(results[i].db, results[i + 3].db);
  }
}

TEST(LinearUpdate, RefusesOperandsThatDoNotFit) {
  const Tensor x = numbers({4, 3}, 1), dy = numbers({4, 2}, 2), state = Tensor::zeros({2}, DType::f64);
  for (const Rule& rule : known_rules())
    for (const NamedOptions& example : rule.examples) {
      const RuleForm& form = rule.form_for(example.options);
      const std::vector<Tensor> w(form.slots.size() + 1, numbers({2, 3}, 3)),
          b(form.slots.size() + 1, numbers({2}, 4)), wrong_w(w.size(), numbers({3, 2}, 3)),
          wrong_b(b.size(), numbers({3}, 4));
      auto update = [&](const Tensor& numbers_of_step, const std::vector<Tensor>& weight,
                        const std::vector<Tensor>& bias) {
        apply_in_place(op_named("linear_" + form.update), joined({{x, dy, numbers_of_step}, weight, bias}),
                       example.options);
      };
      EXPECT_THROW(update(state, wrong_w, b), ShapeError) << form.update;
      EXPECT_THROW(update(state, w, wrong_b), ShapeError) << form.update;
      EXPECT_THROW(update(Tensor::zeros({1}, DType::f64), w, b), ShapeError) << form.update;
      EXPECT_THROW(update(Tensor::zeros({2}), w, b), DTypeError) << form.update;
    }
  EXPECT_THROW(linear_weight_gradient(x, numbers({3, 2}, 2)), ShapeError);
}

TEST(LinearRelu, EqualsLinearThenReluAndSoDoItsGradients) {
  with_threads([] {
    for (auto [N, in, out, transposed] :
         {std::array<int64_t, 4>{33, 300, 45, 0}, {1, 70, 9, 0}, {33, 300, 45, 1}, {1, 70, 9, 1}}) {
      const Tensor w = numbers({out, in}, 2);
      std::vector<Tensor> fused{numbers({N, in}, 1), transposed ? by_input(w) : w, numbers({out}, 3)}, plain;
      for (Tensor& tensor : fused) {
        plain.push_back(clone(tensor));
        tensor.set_requires_grad(), plain.back().set_requires_grad();
      }
      Tensor y = linear_relu(fused[0], fused[1], fused[2]), z = relu(linear(plain[0], plain[1], plain[2]));
      expect_same_bits(y, z);
      const Tensor dy = numbers({N, out}, 5);
      y.backward(dy), z.backward(dy);
      for (int i = 0; i < 3; ++i) expect_same_bits(fused[i].grad(), plain[i].grad());
    }
  });
}

TEST(LinearRelu, NaNPropagates) {
  Tensor x = numbers({5, 20}, 1), w = numbers({9, 20}, 2);
  x.view().as<float>()[3 * 20 + 19] = std::numeric_limits<float>::quiet_NaN();
  const auto y = linear_relu(x, w).to_doubles();
  for (int64_t i = 0; i < 5 * 9; ++i) EXPECT_EQ(std::isnan(y[i]), i / 9 == 3);
}

TEST(LinearWeightGradient, BiasIsLeftOutOnRequest) {
  const auto [dw, db] = linear_weight_gradient(numbers({4, 3}, 1), numbers({4, 2}, 2), {.bias = false});
  EXPECT_EQ(dw.shape(), (Shape{2, 3}));
  EXPECT_FALSE(db.defined());
}

}  // namespace
}  // namespace treadle
