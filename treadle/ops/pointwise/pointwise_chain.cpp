#include "treadle/ops/pointwise/pointwise_chain.h"

#include <algorithm>
#include <charconv>

#include "treadle/core/error.h"
#include "treadle/graph/registry.h"

namespace treadle {
namespace {

std::string operand_text(int operand, int inputs) {
  return operand < inputs ? fmt::format("x{}", operand) : fmt::format("t{}", operand - inputs);
}

std::string step_text(const ChainStep& step, int inputs) {
  const Op& op = op_named(step.op);
  std::string text;
  auto add = [&](const std::string& word) { text += (text.empty() ? "" : ", ") + word; };
  for (int operand : step.operands) add(operand_text(operand, inputs));
  if (op.options && step.attributes)
    for (const OptionField& field : op.options->fields)
      add(field.name + "=" + to_string(field.get(step.attributes.data())));
  return fmt::format("{}({})", step.op, text);
}

std::vector<std::string> split(std::string_view text, std::string_view separator) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const size_t end = std::min(text.find(separator), text.size());
    parts.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + separator.size(), text.size()));
  }
  return parts;
}

template <class T>
T number_in(std::string_view text) {
  T number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  require<ValueError>(error == std::errc() && end == text.data() + text.size(),
                      "pointwise_chain: '{}' is not a number", text);
  return number;
}

OptionValue option_in(const std::string& text, const OptionValue& like) {
  if (std::holds_alternative<bool>(like)) return text == "true";
  if (std::holds_alternative<int64_t>(like)) return number_in<int64_t>(text);
  return number_in<double>(text);
}

/// A step as it is written, before the number of inputs is known: results are counted from -1 downwards.
ChainStep parse_step(const std::string& text) {
  const size_t open = text.find('(');
  require<ValueError>(open != std::string::npos && text.back() == ')',
                      "pointwise_chain: '{}' is not a step, such as \"mul(x0, t1)\"", text);
  const Op& op = op_named(text.substr(0, open));
  ChainStep step{op.name, {}, {}};
  std::map<std::string, OptionValue> options;
  for (const std::string& word :
       split(std::string_view(text).substr(open + 1, text.size() - open - 2), ", ")) {
    const size_t equals = word.find('=');
    if (equals == std::string::npos) {
      const int number = number_in<int>(std::string_view(word).substr(1));
      step.operands.push_back(word[0] == 'x' ? number : -1 - number);
      continue;
    }
    const std::string name = word.substr(0, equals);
    options[name] = option_in(word.substr(equals + 1), op.options->field(name).default_value);
  }
  if (op.options) step.attributes = op.options->make(options);
  return step;
}

const OptionsSchema& chain_schema() {
  static const OptionsSchema& schema = *[] {
    auto* s = new OptionsSchema;
    s->fields.push_back(
        {"steps", "the steps, such as \"mul(x0, x1); tanh(t0)\"", std::string(),
         [](const void* chain) { return OptionValue(static_cast<const PointwiseChain*>(chain)->text()); },
         [](void* chain, const OptionValue& value) {
           *static_cast<PointwiseChain*>(chain) = PointwiseChain::parse(std::get<std::string>(value));
         }});
    s->make = [s](const std::map<std::string, OptionValue>& values) {
      PointwiseChain chain;
      for (auto& [name, value] : values) s->field(name).set(&chain, value);
      return Attributes::of(std::move(chain));
    };
    return s;
  }();
  return schema;
}

/// The operands of a step among the chain's inputs and the results so far.
template <class T>
std::vector<T> operands_of(const ChainStep& step, const std::vector<T>& values) {
  std::vector<T> operands;
  for (int operand : step.operands) operands.push_back(values[size_t(operand)]);
  return operands;
}

/// All steps make results of one shape: nothing is computed twice.
std::vector<TensorSpec> infer(Specs inputs, const Attributes& attributes) {
  const auto& chain = attributes.as<PointwiseChain>();
  require<ValueError>(int(inputs.size()) == chain.inputs() && !chain.steps().empty(),
                      "pointwise_chain: {} operands for a chain of {}", inputs.size(), chain.inputs());
  require<ValueError>(
      chain.fits(),
      "pointwise_chain: {} operands, {} steps and {} results at a time; the most are {}, {} and {}",
      chain.inputs(), chain.steps().size(), chain.slot_count(), PointwiseChain::kMostInputs,
      PointwiseChain::kMostSteps, PointwiseChain::kMostSlots);
  std::vector<TensorSpec> values(inputs.begin(), inputs.end());
  for (const ChainStep& step : chain.steps())
    values.push_back(op_named(step.op).infer(operands_of(step, values), step.attributes)[0]);
  for (size_t i = inputs.size(); i < values.size(); ++i)
    require<ShapeError>(values[i].shape == values.back().shape,
                        "pointwise_chain: a step gives {}, the chain {}", values[i].shape,
                        values.back().shape);
  chain_dtype(inputs);
  return {values.back()};
}

std::vector<ReferenceTensor> reference(ReferenceInputs inputs, const Attributes& attributes) {
  std::vector<ReferenceTensor> values(inputs.begin(), inputs.end());
  for (const ChainStep& step : attributes.as<PointwiseChain>().steps())
    values.push_back(op_named(step.op).reference(operands_of(step, values), step.attributes)[0]);
  return {values.back()};
}

/// Each step rounds as its op does, and its result to the dtype, which for the half types is the larger part.
ErrorModel error(Specs inputs, const Attributes& attributes) {
  const DType dtype = chain_dtype(inputs);
  const double roundings = dtype == DType::f16 ? 0x1p13 : dtype == DType::bf16 ? 0x1p16 : 1;
  double terms = 0;
  std::vector<TensorSpec> values(inputs.begin(), inputs.end());
  for (const ChainStep& step : attributes.as<PointwiseChain>().steps()) {
    const Op& op = op_named(step.op);
    const auto operands = operands_of(step, values);
    terms += roundings + (op.error ? op.error(operands, step.attributes) : ErrorModel{}).terms;
    values.push_back(op.infer(operands, step.attributes)[0]);
  }
  return {ErrorModel::largest_input, 4 * terms};
}

TestInput condition(const Shape& shape) {
  return {shape, {TestFill::integers, 0, 1}, TestLayout::contiguous, {DType::boolean}, true, false};
}

std::vector<TestCase> cases() {
  std::vector<TestCase> list;
  auto add = [&](const char* label, std::vector<TestInput> inputs, const char* text) {
    list.push_back({label, std::move(inputs), Attributes::of(PointwiseChain::parse(text))});
  };
  const char* product = "mul(x0, x1); tanh(t0)";
  add("long", {{{3, 1371}}, {{3, 1371}}}, product);
  add("one element", {{{1}}, {{1}}}, product);
  add("empty", {{{0, 3}}, {{0, 3}}}, product);
  add("one layout", {{{5, 7, 3}, {}, TestLayout::transposed}, {{5, 7, 3}, {}, TestLayout::transposed}},
      product);
  add("sliced", {{{9, 11}, {}, TestLayout::sliced}, {{9, 11}}}, product);
  add("gelu with tanh", {{{4, 600}}, {{}, {TestFill::constant, 0.5}}, {{}, {TestFill::constant, 0.044715}}},
      "mul(x0, x0); mul(t0, x0); mul(t1, x2); add(x0, t2); tanh(t3); mul(x0, x1); mul(t5, t4); add(t5, t6)");
  add("normalised by rows and columns",
      {{{6, 5, 40}}, {{5, 1}}, {{5, 1}, {TestFill::apart, 0.5, 2}}, {{40}}, {{40}}},
      "sub(x0, x1); div(t0, x2); mul(t1, x3); add(t2, x4)");
  add("images", {{{2, 3, 4, 5}, {}, TestLayout::channels_last}, {{3, 1, 1}}}, "add(x0, x1); silu(t0)");
  add("chosen", {{{7, 90}}, condition({7, 90}), {{90}}}, "neg(x0); where(x1, t0, x2); add(t1, x0)");
  add("compared", {{{7, 90}}, {{7, 90}}, {{}, {TestFill::constant, 0.25}}},
      "greater(x0, x1); mul(x0, x2); where(t0, t1, x1)");
  add("comparison", {{{7, 90}}, {{7, 90}}}, "neg(x0); less(x1, t0)");
  add("gradient", {{{7, 90}}, {{7, 90}}},
      "leaky_relu(x0, slope=0.125); leaky_relu_gradient(t0, x1, slope=0.125)");
  add("NaN", {{{523}, {TestFill::with_nan}}, {{523}}}, "maximum(x0, x1); clamp(t0, low=-1.5, high=0.75)");
  add("subnormal", {{{523}, {TestFill::with_subnormal}}, {{523}, {TestFill::with_subnormal}}},
      "mul(x0, x1); neg(t0)");
  return list;
}

/// As many as the steps have together.
double operations(const Call& call) {
  double count = 0;
  for (const ChainStep& step : call.options<PointwiseChain>().steps())
    count += op_named(step.op).operations({call.inputs, call.outputs, step.attributes});
  return count;
}

std::vector<BenchCase> bench_cases(DeviceKind device) {
  if (device == DeviceKind::simt) return {};
  return {
      {"4M, gelu with tanh",
       {{1 << 22}, {}, {}},
       Attributes::of(PointwiseChain::parse("mul(x0, x0); mul(t0, x0); mul(t1, x2); add(x0, t2); tanh(t3); "
                                            "mul(x0, x1); mul(t5, t4); add(t5, t6)"))}};
}

}  // namespace

PointwiseChain::PointwiseChain(int inputs, std::vector<ChainStep> steps)
    : inputs_(inputs), steps_(std::move(steps)) {
  std::vector<int> last_reader(steps_.size(), -1);
  for (size_t i = 0; i < steps_.size(); ++i)
    for (int operand : steps_[i].operands)
      if (operand >= inputs) last_reader[size_t(operand - inputs)] = int(i);
  std::vector<int> reader_of_slot;
  for (size_t i = 0; i < steps_.size(); ++i) {
    size_t slot = 0;
    while (slot < reader_of_slot.size() && reader_of_slot[slot] >= int(i)) ++slot;
    if (slot == reader_of_slot.size()) reader_of_slot.push_back(-1);
    reader_of_slot[slot] = last_reader[i];
    slots_.push_back(int(slot));
  }
  slot_count_ = int(reader_of_slot.size());
}

PointwiseChain PointwiseChain::parse(const std::string& text) {
  std::vector<ChainStep> steps;
  int inputs = 0;
  for (const std::string& part : split(text, "; ")) steps.push_back(parse_step(part));
  for (const ChainStep& step : steps)
    for (int operand : step.operands) inputs = std::max(inputs, operand + 1);
  for (size_t i = 0; i < steps.size(); ++i)
    for (int& operand : steps[i].operands) {
      if (operand < 0) operand = inputs - 1 - operand;
      require<ValueError>(operand < inputs + int(i), "pointwise_chain: step {} reads a later result", i);
    }
  return {inputs, std::move(steps)};
}

std::string PointwiseChain::text() const {
  std::string text;
  for (const ChainStep& step : steps_) text += (text.empty() ? "" : "; ") + step_text(step, inputs_);
  return text;
}

DType chain_dtype(Specs inputs) {
  require<DTypeError>(is_floating(inputs[0].dtype), "pointwise_chain: the first operand is {}, not floating",
                      name_of(inputs[0].dtype));
  return inputs[0].dtype;
}

const Op& pointwise_chain_op() {
  static const Op& op = op_named("pointwise_chain");
  return op;
}

namespace ops {

void register_pointwise_chain(Registry& registry) {
  registry.add({.name = "pointwise_chain",
                .summary = "y = what the steps make of each element, one after the other, broadcast",
                .options = &chain_schema(),
                .infer = infer,
                .reference = reference,
                .rows = rows_of_broadcast,
                .cases = cases,
                .error = error,
                .operations = operations,
                .bench_cases = bench_cases});
  add_to_chains(registry, "pointwise_chain");
}

}  // namespace ops
}  // namespace treadle
