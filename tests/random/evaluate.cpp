#include "tests/random/evaluate.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>

#include "tests/goldens/golden_numbers.h"
#include "treadle/compile/compile.h"
#include "treadle/core/error.h"
#include "treadle/graph/autograd.h"
#include "treadle/graph/registry.h"
#include "treadle/graph/settings.h"
#include "treadle/ops/layout/copy.h"
#include "treadle/ops/pointwise/pointwise.h"
#include "treadle/optim/rule_optimizer.h"

namespace treadle::random_programs {
namespace {

constexpr double kUnit = 0x1p-24;
constexpr double kUnitInF64 = 0x1p-29;  ///< of kUnit: 2^-53

/// Gives an operand of a step, or its result (operand −1), another value.
using Disturb = std::function<Tensor(size_t step, int operand, const Tensor& x)>;

std::vector<Tensor> run(const Program& program, std::vector<Tensor> values, const Disturb& disturb = {}) {
  for (size_t s = 0; s < program.steps.size(); ++s) {
    auto inputs = inputs_of(program.steps[s], values);
    for (size_t k = 0; disturb && k < inputs.size(); ++k)
      if (is_floating(inputs[k].dtype())) inputs[k] = disturb(s, int(k), inputs[k]);
    values.push_back(run_step(program.steps[s], inputs));
    if (disturb) values.back() = disturb(s, -1, values.back());
  }
  std::vector<Tensor> results;
  for (int result : program.results) results.push_back(values[size_t(result)]);
  return results;
}

std::vector<Tensor> parameters_of(const Program& program, const std::vector<Tensor>& leaves) {
  std::vector<Tensor> parameters;
  for (size_t i = 0; i < program.leaves.size(); ++i)
    if (program.leaves[i].is_parameter()) parameters.push_back(leaves[i]);
  return parameters;
}

void add_values(Evaluation& evaluation, const Tensor& x, std::string name) {
  evaluation.tensors.push_back(x.to_doubles());
  evaluation.shapes.push_back(x.shape());
  evaluation.names.push_back(std::move(name));
}

/// A parameter without a gradient has one of zeros.
Evaluation evaluation_of(const Program& program, const std::vector<Tensor>& results,
                         const std::vector<Tensor>& parameters) {
  Evaluation evaluation;
  for (size_t i = 0; i < results.size(); ++i)
    add_values(evaluation, results[i], fmt::format("value {}", program.results[i]));
  for (size_t i = 0; i < parameters.size(); ++i) {
    const Tensor gradient = parameters[i].grad();
    add_values(evaluation, gradient.defined() ? gradient : Tensor::zeros(parameters[i].shape()),
               fmt::format("gradient of parameter {}", i));
  }
  return evaluation;
}

void go_back(const Tensor& loss) {
  if (loss.requires_grad()) loss.backward();
}

Evaluation evaluate(const Program& program, DType dtype, Device device, const Disturb& disturb = {}) {
  const auto leaves = make_leaves(program, dtype, device);
  const auto results = run(program, leaves, disturb);
  go_back(results.back());
  return evaluation_of(program, results, parameters_of(program, leaves));
}

/// The terms that the step's sums have, forward and backward, at most; Winograd's error growth for
/// convolutions.
double terms_of(const Step& step, const std::vector<Shape>& inputs, const Shape& result) {
  double terms = 8;
  for (const Shape& a : inputs) {
    terms = std::max(terms, double(a.numel()) / std::max<double>(1, double(result.numel())));
    terms = std::max(terms, double(result.numel()) / std::max<double>(1, double(a.numel())));
  }
  if (step.op == "matmul" || step.op == "linear" || step.op == "conv2d")
    for (const Shape& a : inputs)
      for (int64_t extent : a) terms = std::max(terms, double(extent));
  if (step.op != "conv2d") return terms + 8;
  const Shape& w = inputs[1];
  const double forward = double(w[1] * w[2] * w[3]), back = double(w[0] * w[2] * w[3]),
               weights = double(result[0] * result[2] * result[3]);
  return 22.0 * 22 / 9 * (std::max({forward, back, weights}) + 8);
}

/// 1 ± unit · terms for every element, by a hash.
Tensor factors(const Tensor& x, double distance, uint32_t seed) {
  std::vector<double> values(size_t(x.numel()));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = goldens::mix(seed, uint32_t(i)) & 1 ? 1 + distance : 1 - distance;
  return Tensor::from(values, x.shape());
}

/// x with a relative error, and an error of its own for the gradient that passes: a gradient of disturbed
/// values alone cancels wherever that of exact ones does.
Tensor disturbed_by(const Tensor& x, double distance, uint32_t seed) {
  const Tensor forward = factors(x, distance, seed), back = factors(x, distance, seed + 1);
  return x * back + x.detach() * (forward - back);
}

std::vector<double> terms_of(const Program& program) {
  NoGrad no_grad;
  std::vector<double> terms;
  auto values = make_leaves(program, DType::f64, kCpu);
  for (const Step& step : program.steps) {
    const auto inputs = inputs_of(step, values);
    values.push_back(run_step(step, inputs));
    std::vector<Shape> shapes;
    for (const Tensor& input : inputs) shapes.push_back(input.shape());
    terms.push_back(terms_of(step, shapes, values.back().shape()));
  }
  return terms;
}

double largest_of(const std::vector<double>& values) {
  double largest = 0;
  for (double value : values) largest = std::max(largest, std::fabs(value));
  return largest;
}

double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double largest = 0;
  for (size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::fabs(a[i] - b[i]));
  return largest;
}

// ---- Comparing
// -------------------------------------------------------------------------------------------------

std::string compare(const std::string& way, const Evaluation& got, const Expectation& wanted, double unit) {
  const Evaluation& exact = wanted.exact;
  for (size_t t = 0; t < exact.tensors.size(); ++t) {
    if (!(got.shapes[t] == exact.shapes[t]))
      return fmt::format("{}: {} has shape {}, in f64 {}", way, exact.names[t], to_string(got.shapes[t]),
                         to_string(exact.shapes[t]));
    for (size_t i = 0; i < exact.tensors[t].size(); ++i)
      if (!(std::fabs(got.tensors[t][i] - exact.tensors[t][i]) <= wanted.allowed[t] * unit))
        return fmt::format("{}: {} element {} is {:.9g}, in f64 {:.9g}, allowed {:.2g}", way, exact.names[t],
                           i, got.tensors[t][i], exact.tensors[t][i], wanted.allowed[t] * unit);
  }
  return "";
}

std::string compare_bits(const std::string& way, const Evaluation& got, const Evaluation& wanted) {
  for (size_t t = 0; t < wanted.tensors.size(); ++t) {
    if (!(got.shapes[t] == wanted.shapes[t]))
      return fmt::format("{}: {} has shape {}, eager {}", way, wanted.names[t], to_string(got.shapes[t]),
                         to_string(wanted.shapes[t]));
    for (size_t i = 0; i < wanted.tensors[t].size(); ++i)
      if (std::memcmp(&got.tensors[t][i], &wanted.tensors[t][i], sizeof(double)) != 0 &&
          got.tensors[t][i] != wanted.tensors[t][i])
        return fmt::format("{}: {} element {} is {:.9g}, eager {:.9g}", way, wanted.names[t], i,
                           got.tensors[t][i], wanted.tensors[t][i]);
  }
  return "";
}

// ---- Ways
// ------------------------------------------------------------------------------------------------------

/// A compiled function of the inputs; parameters are captured.
class CompiledProgram {
 public:
  CompiledProgram(const Program& program, DType dtype, Device device, const CompileOptions& options)
      : program_(program),
        leaves_(make_leaves(program, dtype, device)),
        function_([this](std::span<const Tensor> given) { return call(given); }, options) {
    for (size_t i = 0; i < leaves_.size(); ++i)
      if (!program.leaves[i].is_parameter()) arguments_.push_back(leaves_[i]);
  }

  CompiledProgram(const CompiledProgram&) = delete;

  Evaluation run() {
    const auto results = function_(arguments_);
    return evaluation_of(program_, results, parameters_of(program_, leaves_));
  }

 private:
  std::vector<Tensor> call(std::span<const Tensor> given) const {
    auto values = leaves_;
    for (size_t i = 0, next = 0; i < values.size(); ++i)
      if (!program_.leaves[i].is_parameter()) values[i] = given[next++];
    for (Tensor parameter : parameters_of(program_, leaves_)) parameter.set_grad({});
    auto results = random_programs::run(program_, values);
    go_back(results.back());
    return results;
  }

  const Program& program_;
  std::vector<Tensor> leaves_, arguments_;
  CompiledFunction function_;
};

constexpr CompileOptions kUnfused{.measure = false, .fuse = false}, kFused{.measure = false}, kMeasured{};
constexpr CompileOptions kGraph{.measure = false, .graph = CompileOptions::Graph::always};

// ---- Training
// --------------------------------------------------------------------------------------------------

constexpr double kRate = 0x1p-5;
constexpr int kTrainingSteps = 3;

/// An example of a rule, which optimizers are made by.
struct Choice {
  const Rule* rule;
  const NamedOptions* example;

  std::string name() const { return rule->name + " " + example->name; }
  const RuleForm& form() const { return rule->form_for(example->options); }
};

std::vector<Choice> choices() {
  std::vector<Choice> list;
  for (const Rule& rule : known_rules())
    for (const NamedOptions& example : rule.examples) list.push_back({&rule, &example});
  return list;
}

/// Parameters, their optimiser, and a step that may be compiled.
class Training {
 public:
  Training(const Program& program, const Choice& choice, const CompileOptions* options)
      : program_(program), leaves_(make_leaves(program, DType::f32, kCpu)) {
    for (size_t i = 0; i < leaves_.size(); ++i)
      if (program.leaves[i].is_parameter())
        named_.push_back({fmt::format("p{}", i), leaves_[i]}), start_.push_back(clone(leaves_[i].detach()));
      else
        arguments_.push_back(leaves_[i]);
    optimizer_ = std::make_unique<RuleOptimizer>(named_, kRate, *choice.rule, choice.example->options);
    if (options) function_.emplace([this](std::span<const Tensor> given) { return step(given); }, *options);
  }

  /// From the start's parameters, so that every step is taken far from kinks; the optimiser's state goes on.
  void run() {
    return_to_start();
    results_ = function_ ? (*function_)(arguments_) : step(arguments_);
  }
  std::vector<std::vector<double>> parameters() const {
    std::vector<std::vector<double>> values;
    for (const NamedTensor& one : named_) values.push_back(one.tensor.to_doubles());
    return values;
  }
  /// Elements of what is kept of parameter `p`, by slot.
  std::vector<std::vector<double>> kept(size_t p, const std::vector<std::string>& slots) const {
    std::vector<std::vector<double>> values;
    for (const std::string& slot : slots)
      for (const NamedTensor& state : optimizer_->state())
        if (state.name == named_[p].name + "." + slot) values.push_back(state.tensor.to_doubles());
    return values;
  }
  std::vector<std::vector<double>> start() const {
    std::vector<std::vector<double>> values;
    for (const Tensor& one : start_) values.push_back(one.to_doubles());
    return values;
  }
  void take_state_of(const Training& other) { optimizer_->load_state(other.optimizer_->state()); }
  bool has_parameters() const { return !named_.empty(); }

 private:
  void return_to_start() {
    NoGrad no_grad;
    for (size_t i = 0; i < start_.size(); ++i) copy_into(named_[i].tensor, start_[i]);
  }
  std::vector<Tensor> step(std::span<const Tensor> given) {
    auto values = leaves_;
    for (size_t i = 0, next = 0; i < values.size(); ++i)
      if (!program_.leaves[i].is_parameter()) values[i] = given[next++];
    optimizer_->zero_grad();
    auto results = random_programs::run(program_, values);
    go_back(results.back());
    optimizer_->step();
    return results;
  }

  const Program& program_;
  std::vector<Tensor> leaves_, arguments_, start_, results_;
  std::vector<NamedTensor> named_;
  std::unique_ptr<Optimizer> optimizer_;
  std::optional<CompiledFunction> function_;
};

}  // namespace

Expectation expect(const Program& program) {
  constexpr int kRuns = 4;
  constexpr double kCancelled = 8;
  Expectation expectation{evaluate(program, DType::f64, kCpu), {}};
  const Evaluation& exact = expectation.exact;
  for (const auto& tensor : exact.tensors) expectation.allowed.push_back(2 * kUnit * largest_of(tensor));
  const auto terms = terms_of(program);
  for (uint32_t run = 0; run < kRuns; ++run) {
    const Evaluation disturbed =
        evaluate(program, DType::f64, kCpu, [&](size_t step, int operand, const Tensor& x) {
          return disturbed_by(x, kUnit * terms[step], uint32_t(1000 * run + 20 * step + 2 * (operand + 1)));
        });
    for (size_t t = 0; t < exact.tensors.size(); ++t)
      expectation.allowed[t] = std::max(
          expectation.allowed[t], kCancelled * largest_difference(disturbed.tensors[t], exact.tensors[t]));
  }
  return expectation;
}

namespace {

/// What a step makes of one element of a parameter, from the reference: { parameter, slots… } without a
/// gradient.
double after_step(const Choice& choice, std::vector<double> group, double gradient, int64_t step) {
  group.insert(group.begin() + 1, gradient);
  std::vector<ReferenceTensor> operands;
  for (double value : group) operands.push_back({{1}, {value}});
  return op_named(choice.form().update)
      .reference(operands, choice.rule->at(choice.example->options, kRate, step))[0]
      .values[0];
}

/// How far a parameter may be off after a step from equal states, for a gradient that is off by `error`: as
/// far as such gradients move it, and some roundings.
double allowed_after_step(const Choice& choice, const std::vector<double>& group, double gradient,
                          double error, int64_t step) {
  constexpr int kSamples = 4;  // to either side
  const double exact = after_step(choice, group, gradient, step), moved = std::fabs(exact - group[0]);
  double farthest = 0;
  for (int k = -kSamples; k <= kSamples; ++k) {
    const double other = after_step(choice, group, gradient + error * k / kSamples, step);
    farthest = std::max(farthest, std::fabs(other - exact));
  }
  return 2 * farthest + 16 * kUnit * (std::fabs(group[0]) + moved + kRate * (std::fabs(gradient) + 2));
}

std::string compare_training(const Program& program, const Expectation& expectation, const Choice& choice) {
  Training eager(program, choice, nullptr), unfused(program, choice, &kUnfused),
      fused(program, choice, &kFused);
  if (!eager.has_parameters()) return "";
  const auto starts = eager.start();
  for (int step = 1; step <= kTrainingSteps; ++step) {
    fused.take_state_of(eager);
    fused.run();
    const auto near = fused.parameters();
    std::vector<std::vector<std::vector<double>>> kept;
    for (size_t p = 0; p < near.size(); ++p) kept.push_back(eager.kept(p, choice.form().slots));
    eager.run(), unfused.run();
    const auto wanted = eager.parameters(), same = unfused.parameters();
    for (size_t p = 0; p < wanted.size(); ++p)
      for (size_t i = 0; i < wanted[p].size(); ++i) {
        const std::string where =
            fmt::format("{} step {}: parameter {} element {}", choice.name(), step, p, i);
        if (same[p][i] != wanted[p][i])
          return fmt::format("compiled {} is {:.9g}, eager {:.9g}", where, same[p][i], wanted[p][i]);
        if (near[p][i] == wanted[p][i]) continue;
        const size_t t = program.results.size() + p;
        std::vector<double> group{starts[p][i]};
        for (const auto& slot : kept[p]) group.push_back(slot[i]);
        const double allowed = allowed_after_step(choice, group, expectation.exact.tensors[t][i],
                                                  2 * expectation.allowed[t], step);
        if (!(std::fabs(near[p][i] - wanted[p][i]) <= allowed))
          return fmt::format("fused {} is {:.9g}, eager {:.9g}, allowed {:.2g}", where, near[p][i],
                             wanted[p][i], allowed);
      }
  }
  return "";
}

// What they set, they take back.
class OwnEngine {
 public:
  OwnEngine() { settings().own_engine_only = true; }
  ~OwnEngine() { settings().own_engine_only = false; }
};
class ChosenVariant {
 public:
  ChosenVariant(const Op& op, const Variant& variant) { settings().variants[op.name] = variant.name; }
  ~ChosenVariant() { settings().variants.clear(); }
};

/// Three calls: the first two record, the third only replays.
template <class Compare>
std::string compare_compiled(const Program& program, DType dtype, Device device,
                             const CompileOptions& options, Compare compare_call) {
  CompiledProgram compiled(program, dtype, device, options);
  for (int call = 0; call < 3; ++call)
    if (std::string message = compare_call(compiled.run()); !message.empty()) return message;
  return "";
}

/// Whether programs with such a step may run the op: its own, one it is fused into, or one of its gradient's.
bool may_run(const Program& program, const std::string& op) {
  return std::any_of(program.steps.begin(), program.steps.end(), [&](const Step& step) {
    return op == step.op || op.starts_with(step.op + "_") || (op == "matmul" && step.op == "linear");
  });
}

/// Optimizers whose training steps may run the op, an update.
std::vector<Choice> choices_for(const Op& op) {
  std::vector<Choice> list;
  for (const Choice& choice : choices())
    if (op.name.ends_with("_" + choice.form().update)) list.push_back(choice);
  return list;
}

/// The program with one variant of one op chosen; nothing is said where the variant does not take its call.
std::string compare_variant(const Program& program, const Expectation& expectation, const Op& op,
                            const Variant& variant) {
  const std::string way = fmt::format("{}={}", op.name, variant.name);
  const ChosenVariant chosen(op, variant);
  try {
    for (const Choice& choice : choices_for(op))
      if (const std::string message = compare_training(program, expectation, choice); !message.empty())
        return way + ": " + message;
    if (!op.mutates.empty()) return "";
    return compare(way, CompiledProgram(program, DType::f32, kCpu, kFused).run(), expectation, 1);
  } catch (const std::exception& error) {
    const std::string reason = error.what();
    if (reason.find("does not take") != std::string::npos || !absence_of(variant.engine).empty()) return "";
    return fmt::format("{} threw: {}", way, reason);
  }
}

std::string compare_variants(const Program& program, const Expectation& expectation) {
  for (const Op* op : registry().ops()) {
    if (!may_run(program, op->name)) continue;
    const auto is_for_cpu = [](const Variant& v) { return v.device == DeviceKind::cpu; };
    if (std::count_if(op->variants.begin(), op->variants.end(), is_for_cpu) < 2) continue;
    for (const Variant& variant : op->variants)
      if (is_for_cpu(variant))
        if (std::string message = compare_variant(program, expectation, *op, variant); !message.empty())
          return message;
  }
  return "";
}

/// The ways one after another, by name; each gives a message or nothing.
struct Way {
  std::string name;
  std::function<std::string()> difference;
};

std::vector<Way> ways_of(const Program& program, const Expectation& expectation) {
  auto near = [&](const char* way, double unit = 1) {
    return [&expectation, way, unit](const Evaluation& got) { return compare(way, got, expectation, unit); };
  };
  auto same = [&](const char* way, Device device) {
    return [&program, way, eager = evaluate(program, DType::f32, device)](const Evaluation& got) {
      return compare_bits(way, got, eager);
    };
  };
  auto eager = [&](const char* way, DType dtype, Device device, double unit) {
    return Way{way, [&program, way, dtype, device, unit, near] {
                 return near(way, unit)(evaluate(program, dtype, device));
               }};
  };
  auto compiled = [&](const char* way, DType dtype, Device device, const CompileOptions& options,
                      auto compare_call) {
    return Way{way, [&program, dtype, device, options, compare_call] {
                 return compare_compiled(program, dtype, device, options, compare_call);
               }};
  };
  const DType f32 = DType::f32, f64 = DType::f64;
  std::vector<Way> ways{eager("eager", f32, kCpu, 1),
                        eager("simt", f32, kSimt, 1),
                        eager("simt in f64", f64, kSimt, kUnitInF64),
                        {"own engine",
                         [&, near] {
                           const OwnEngine own;
                           return near("own engine")(evaluate(program, DType::f32, kCpu));
                         }},
                        compiled("compiled", f32, kCpu, kUnfused, same("compiled", kCpu)),
                        compiled("fused", f32, kCpu, kFused, near("fused")),
                        compiled("fused in f64", f64, kCpu, kFused, near("fused in f64", kUnitInF64)),
                        compiled("simt in a graph", f32, kSimt, kGraph, near("simt in a graph")),
                        {"variants", [&] { return compare_variants(program, expectation); }}};
  // Each measurement is written to a file: some programs will do.
  if (program.seed % 8 == 0) ways.push_back(compiled("measured", f32, kCpu, kMeasured, near("measured")));
  for (const Choice& choice : choices())
    ways.push_back({choice.name(), [&, choice] { return compare_training(program, expectation, choice); }});
  return ways;
}

}  // namespace

std::string first_difference(const Program& program, const Expectation& expectation, int64_t& ways) {
  for (const Way& way : ways_of(program, expectation)) {
    try {
      ++ways;
      if (std::string message = way.difference(); !message.empty()) return message;
    } catch (const std::exception& error) {
      return fmt::format("{} threw: {}", way.name, error.what());
    }
  }
  return "";
}

}  // namespace treadle::random_programs
