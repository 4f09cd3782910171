/// Each optimiser against its formula, with every option away from its default: plain loops in double over
/// parameters in f64. Recorded steps are compared with eager ones elsewhere.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <memory>

#include "treadle/optim/adam.h"
#include "treadle/optim/sgd.h"

namespace treadle {
namespace {

using Values = std::vector<double>;

constexpr int kSteps = 6;
constexpr double kRate = 0.1;
/// Numbers below 8, some twenty roundings a step, which a division by √v̂ + ε ≥ 0.01 may magnify.
constexpr double kAllowed = 8 * 20 * kSteps * 100 * 0x1p-53;

Values first_values() { return {0.5, -1, 2, 0.125}; }

/// The gradient at a step that counts from 1.
Values gradient_at(int step) { return {1. / step, -0.5 * step, 0.25, step % 2 ? -1. : 0.75}; }

/// What the optimiser makes of the first values in kSteps steps.
Values trained(const std::function<std::unique_ptr<Optimizer>(std::vector<NamedTensor>)>& make) {
  Tensor p = Tensor::from(first_values(), {4}).set_requires_grad();
  auto optimizer = make({{"p", p}});
  for (int step = 1; step <= kSteps; ++step) {
    p.set_grad(Tensor::from(gradient_at(step), {4}));
    optimizer->step();
  }
  return p.to_doubles();
}

void expect_near(const Values& got, const Values& wanted) {
  for (size_t i = 0; i < wanted.size(); ++i) EXPECT_NEAR(got[i], wanted[i], kAllowed) << i;
}

Values sgd_by_hand(const SgdOptions& o) {
  Values p = first_values(), buffer(p.size());
  for (int step = 1; step <= kSteps; ++step)
    for (size_t i = 0; i < p.size(); ++i) {
      const double g = gradient_at(step)[i] + o.weight_decay * p[i];
      buffer[i] = step == 1 ? g : o.momentum * buffer[i] + (1 - o.dampening) * g;
      p[i] -= kRate * (o.nesterov ? g + o.momentum * buffer[i] : o.momentum != 0 ? buffer[i] : g);
    }
  return p;
}

Values adam_by_hand(const AdamOptions& o) {
  Values p = first_values(), m(p.size()), v(p.size());
  for (int step = 1; step <= kSteps; ++step)
    for (size_t i = 0; i < p.size(); ++i) {
      double g = gradient_at(step)[i];
      if (o.decoupled)
        p[i] -= kRate * o.weight_decay * p[i];
      else
        g += o.weight_decay * p[i];
      m[i] = o.beta1 * m[i] + (1 - o.beta1) * g;
      v[i] = o.beta2 * v[i] + (1 - o.beta2) * g * g;
      const double mean = m[i] / (1 - std::pow(o.beta1, step)), square = v[i] / (1 - std::pow(o.beta2, step));
      p[i] -= kRate * mean / (std::sqrt(square) + o.epsilon);
    }
  return p;
}

TEST(Formulas, Sgd) {
  const SgdOptions cases[] = {{},
                              {.weight_decay = 0.3},
                              {.momentum = 0.8},
                              {.momentum = 0.8, .dampening = 0.25, .weight_decay = 0.3},
                              {.momentum = 0.8, .weight_decay = 0.3, .nesterov = true}};
  for (const SgdOptions& options : cases)
    expect_near(trained([&](auto parameters) {
                  return std::make_unique<Sgd>(std::move(parameters), kRate, options);
                }),
                sgd_by_hand(options));
}

TEST(Formulas, Adam) {
  const AdamOptions cases[] = {
      {},
      {.beta1 = 0.7, .beta2 = 0.95, .epsilon = 0.01, .weight_decay = 0.3},
      {.beta1 = 0.7, .beta2 = 0.95, .epsilon = 0.01, .weight_decay = 0.3, .decoupled = true}};
  for (const AdamOptions& options : cases)
    expect_near(trained([&](auto parameters) {
                  return std::make_unique<Adam>(std::move(parameters), kRate, options);
                }),
                adam_by_hand(options));
}

TEST(Formulas, NamesStandForTheirOptions) {
  const std::pair<const char*, Values> cases[] = {
      {"sgd", sgd_by_hand({})},
      {"momentum", sgd_by_hand({.momentum = 0.9})},
      {"adam", adam_by_hand({})},
      {"adamw", adam_by_hand({.weight_decay = 0.01, .decoupled = true})}};
  for (auto& [name, wanted] : cases)
    expect_near(trained([&](auto parameters) { return make_optimizer(name, std::move(parameters), kRate); }),
                wanted);
}

}  // namespace
}  // namespace treadle
