/// The optimizers of every rule against PyTorch's, as rules/NAME.json holds them.
#include <set>

#include "tests/goldens/golden_files.h"
#include "treadle/ops/layout/cast.h"
#include "treadle/optim/rule_optimizer.h"

namespace treadle::goldens {
namespace {

std::vector<Json> files() {
  std::vector<Json> list;
  for (const std::string& name : names_in("rules")) list.push_back(contents("rules/" + name));
  return list;
}

const Rule& rule_called(const std::string& name) {
  for (const Rule& rule : known_rules())
    if (rule.name == name) return rule;
  throw std::runtime_error("rules/*.json: no rule is called " + name);
}

/// The preset of that name, or defaults with some options.
Attributes options_for(const Rule& rule, const Json& record) {
  for (const NamedOptions& preset : rule.presets)
    if (record.value("preset", "") == preset.name) return preset.options;
  return options_of(*rule.options, record);
}

/// Every value within a few roundings of PyTorch's, in f64 of its f64 result.
void expect_steps(const Rule& rule, const Json& record, DType dtype) {
  const double unit = dtype == DType::f64 ? 0x1p-53 : 0x1p-24;
  auto numbers = [&](uint32_t seed) { return cast(signed_tensor(seed, {10}), dtype); };
  Tensor parameter = numbers(5000).set_requires_grad();
  RuleOptimizer optimizer({{"p", parameter}}, record["learning_rate"], rule, options_for(rule, record));
  for (uint32_t t = 0; t < record["steps"].size(); ++t) {
    const auto& step = record["steps"][t];
    parameter.set_grad(numbers(5101 + t));
    optimizer.step();
    const auto values = parameter.to_doubles();
    for (size_t i = 0; i < values.size(); ++i) {
      const double wanted = dtype == DType::f64 ? exact(step["value"][i], step["deviation"][i])
                                                : step["value"][i].get<double>();
      EXPECT_NEAR(values[i], wanted, 4 * (t + 1) * unit) << rule.name << ' ' << record["pytorch"] << ' '
                                                         << name_of(dtype) << " step " << t << " value " << i;
    }
  }
}

TEST(Rules, EqualPyTorch) {
  for (const auto& file : files())
    for (const auto& record : file["cases"])
      for (DType dtype : {DType::f32, DType::f64}) expect_steps(rule_called(file["rule"]), record, dtype);
}

TEST(Rules, AllPresetsHaveGoldens) {
  std::set<std::string> there, wanted;
  for (const auto& file : files())
    for (const auto& record : file["cases"])
      if (record.contains("preset")) there.insert(record["preset"]);
  for (const Rule& rule : known_rules())
    for (const NamedOptions& preset : rule.presets) wanted.insert(preset.name);
  EXPECT_EQ(there, wanted);
}

}  // namespace
}  // namespace treadle::goldens
