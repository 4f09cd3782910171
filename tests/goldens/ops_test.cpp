/// Ops against PyTorch, as ops/NAME.json holds their outputs, gradients and gradients of gradients: eager and
/// compiled.
#include "tests/goldens/golden_files.h"
#include "treadle/compile/compile.h"
#include "treadle/graph/autograd.h"
#include "treadle/graph/registry.h"
#include "treadle/ops/layout/cast.h"
#include "treadle/ops/layout/copy.h"
#include "treadle/ops/layout/views.h"
#include "treadle/ops/pointwise/pointwise.h"
#include "treadle/ops/reduce/reduce.h"

namespace treadle::goldens {
namespace {

Shape shape_of(const Json& record) {
  Shape shape;
  for (int64_t extent : record["shape"]) shape.push_back(extent);
  return shape;
}

/// See make_op_goldens.py.
Tensor input_tensor(uint32_t number, const Json& input) {
  const uint32_t seed = 4000 + number;
  const Shape shape = shape_of(input);
  if (input.contains("classes")) return reshape(label_tensor(seed, shape.numel(), input["classes"]), shape);
  const auto range = input.value("range", std::vector<double>{-1, 1});
  std::vector<float> values(size_t(shape.numel()));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = float(range[0] + (range[1] - range[0]) * double(uniform(seed, uint32_t(i))));
  return Tensor::from(values, shape);
}

/// A case of a file on a device: a call of the op, and what it must give.
class Case {
 public:
  Case(const Op& op, const Json& record, Device device)
      : op_(op), record_(record), options_(op.options ? options_of(*op.options, record) : Attributes()) {
    for (const Json& input : record.at("inputs"))
      inputs_.push_back(to(input_tensor(uint32_t(inputs_.size()), input), device));
    for (const Json& output : record.at("outputs"))
      upstream_.push_back(to(signed_tensor(uint32_t(4100 + upstream_.size()), shape_of(output)), device));
  }

  const std::vector<Tensor>& inputs() const { return inputs_; }

  /// The outputs, then the gradients of the recorded inputs.
  std::vector<Tensor> run(std::span<const Tensor> inputs) const {
    std::vector<Tensor> leaves(inputs.begin(), inputs.end()), results;
    for (int i : compared_inputs()) leaves[i] = inputs[i].detach().set_requires_grad();
    const auto outputs = apply(op_, leaves, options_);
    Tensor total;
    for (size_t k = 0; k < upstream_.size(); ++k) {
      results.push_back(outputs.at(k).detach());
      const Tensor term = sum(outputs[k] * upstream_[k]);
      total = total.defined() ? total + term : term;
    }
    total.backward();
    for (int i : compared_inputs()) results.push_back(leaves[i].grad());
    return results;
  }

  /// The gradients of Σ gradient·weight; undefined for inputs that it does not depend on, where PyTorch may
  /// say 0.
  std::vector<Tensor> run_twice(std::span<const Tensor> inputs) const {
    std::vector<Tensor> operands(inputs.begin(), inputs.end()), leaves, terms, upstream;
    for (int i : compared_inputs())
      leaves.push_back(operands[size_t(i)] =
                           cast(inputs[size_t(i)], DType::f64).detach().set_requires_grad());
    for (Tensor& operand : operands)
      if (is_floating(operand.dtype())) operand = cast(operand, DType::f64);
    auto outputs = apply(op_, operands, options_);
    outputs.resize(upstream_.size());
    for (const Tensor& weight : upstream_) upstream.push_back(cast(weight, DType::f64));
    const auto gradients = grad(outputs, leaves, {.upstream = upstream, .create_graph = true});
    Tensor total = Tensor::from(std::vector<double>{0}, {});
    for (size_t k = 0; k < leaves.size(); ++k) {
      const uint32_t seed = uint32_t(4200 + compared_inputs()[k]);
      total = total + sum(gradients[k] * cast(signed_tensor(seed, gradients[k].shape()), DType::f64));
    }
    if (!total.requires_grad()) return std::vector<Tensor>(leaves.size());
    return grad({total}, leaves, {.allow_unused = true});
  }
  bool has_second_gradients() const { return !record_.at("second_gradients").empty(); }

  void expect_second(const std::vector<Tensor>& found) const {
    size_t next = 0;
    for (int i : compared_inputs()) {
      const Json& second = record_["second_gradients"];
      const Tensor& gradient = found.at(next++);
      const std::string what = "second gradient of " + name_of(i);
      if (!second.contains(name_of(i)) || (!gradient.defined() && second[name_of(i)]["norm"] == 0)) continue;
      expect_measures_in_f64(gradient, second[name_of(i)], record_.value("second_terms", record_["terms"]),
                             what);
    }
  }

  void expect(const std::vector<Tensor>& results) const {
    size_t next = 0;
    for (const Json& output : record_.at("outputs"))
      expect_measures(results.at(next), output, record_["terms"], fmt::format("output {}", next)), ++next;
    for (int i : compared_inputs())
      expect_measures(results.at(next++), record_.at("gradients")[name_of(i)], record_["terms"],
                      "gradient of " + name_of(i));
  }

 private:
  std::string name_of(int input) const { return record_["inputs"][input]["name"]; }
  std::vector<int> compared_inputs() const {
    std::vector<int> numbers;
    for (int i = 0; i < int(record_["inputs"].size()); ++i)
      if (record_.at("gradients").contains(name_of(i))) numbers.push_back(i);
    return numbers;
  }

  const Op& op_;
  const Json& record_;
  const Attributes options_;
  std::vector<Tensor> inputs_, upstream_;
};

class Ops : public testing::TestWithParam<std::string> {};

TEST_P(Ops, EqualPyTorch) {
  const Json& golden = contents("ops/" + GetParam());
  for (const Json& record : golden.at("cases")) {
    for (Device device : {kCpu, kSimt}) {
      SCOPED_TRACE(record["pytorch"].get<std::string>() + " on " + to_string(device));
      const Case one(registry().find(GetParam()), record, device);
      one.expect(one.run(one.inputs()));
      CompiledFunction compiled([&](std::span<const Tensor> inputs) { return one.run(inputs); });
      for (int call = 0; call < 3; ++call) one.expect(compiled(one.inputs()));
    }
  }
}

/// In f64, where cancellation leaves enough to compare.
TEST_P(Ops, DifferentiatedAgainEqualPyTorch) {
  const Json& golden = contents("ops/" + GetParam());
  for (const Json& record : golden.at("cases")) {
    SCOPED_TRACE(record["pytorch"].get<std::string>());
    const Case one(registry().find(GetParam()), record, kCpu);
    if (!one.has_second_gradients()) continue;
    one.expect_second(one.run_twice(one.inputs()));
    CompiledFunction compiled([&](std::span<const Tensor> inputs) { return one.run_twice(inputs); });
    for (int call = 0; call < 3; ++call) one.expect_second(compiled(one.inputs()));
  }
}

INSTANTIATE_TEST_SUITE_P(All, Ops, testing::ValuesIn(names_in("ops")),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace treadle::goldens
