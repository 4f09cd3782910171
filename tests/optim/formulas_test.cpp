/// Each optimizer against its rule's reference in double, with every option away from its default: what a
/// user chooses arrives in the update, the steps are counted, and what the rule keeps stays from step to
/// step. References are compared with PyTorch elsewhere, recorded steps with eager ones.
#include <gtest/gtest.h>

#include "treadle/graph/registry.h"
#include "treadle/ops/layout/copy.h"
#include "treadle/optim/rule_optimizer.h"

namespace treadle {
namespace {

using Values = std::vector<double>;

constexpr int kSteps = 6;
constexpr double kRate = 0.1;
/// Numbers below 8, some twenty roundings a step, which a division by a root of 0.01 or more may magnify.
constexpr double kAllowed = 8 * 20 * kSteps * 100 * 0x1p-53;

Values first_values() { return {0.5, -1, 2, 0.125}; }

/// The gradient at a step that counts from 1.
Values gradient_at(int step) { return {1. / step, -0.5 * step, 0.25, step % 2 ? -1. : 0.75}; }

/// What the optimizer makes of the first values in kSteps steps.
Values trained(const std::function<std::unique_ptr<Optimizer>(std::vector<NamedTensor>)>& make) {
  Tensor p = Tensor::from(first_values(), {4}).set_requires_grad();
  auto optimizer = make({{"p", p}});
  for (int step = 1; step <= kSteps; ++step) {
    p.set_grad(Tensor::from(gradient_at(step), {4}));
    optimizer->step();
  }
  return p.to_doubles();
}

/// The reference of the op, step by step.
Values by_reference(const Rule& rule, const Attributes& options) {
  const RuleForm& form = rule.form_for(options);
  std::vector<ReferenceTensor> group{{{4}, first_values()}, {{4}, {}}};
  for (size_t k = 0; k < form.slots.size(); ++k) group.push_back(ReferenceTensor::zeros({4}));
  for (int step = 1; step <= kSteps; ++step) {
    group[1].values = gradient_at(step);
    auto updated = op_named(form.update).reference(group, rule.at(options, kRate, step));
    group[0] = updated[0];
    for (size_t k = 1; k < updated.size(); ++k) group[k + 1] = updated[k];
  }
  return group[0].values;
}

void expect_near(const Values& got, const Values& wanted, const std::string& what) {
  for (size_t i = 0; i < wanted.size(); ++i) EXPECT_NEAR(got[i], wanted[i], kAllowed) << what << ' ' << i;
}

TEST(Formulas, OptimizersFollowTheReferenceOfTheirRule) {
  for (const Rule& rule : known_rules())
    for (const NamedOptions& example : rule.examples)
      expect_near(trained([&](auto parameters) {
                    return std::make_unique<RuleOptimizer>(std::move(parameters), kRate, rule,
                                                           example.options);
                  }),
                  by_reference(rule, example.options), rule.name + " " + example.name);
}

TEST(Formulas, NamesStandForTheirOptions) {
  for (const Rule& rule : known_rules())
    for (const NamedOptions& preset : rule.presets)
      expect_near(
          trained([&](auto parameters) { return make_optimizer(preset.name, std::move(parameters), kRate); }),
          by_reference(rule, preset.options), preset.name);
}

/// An option that no example changes is one that no test would miss.
TEST(Formulas, ExamplesChangeEveryOption) {
  for (const Rule& rule : known_rules())
    for (const OptionField& field : rule.options->fields) {
      bool changed = false;
      for (const NamedOptions& example : rule.examples)
        changed |= field.get(example.options.data()) != field.default_value;
      EXPECT_TRUE(changed) << rule.name << ": no example has another " << field.name;
    }
}

}  // namespace
}  // namespace treadle
