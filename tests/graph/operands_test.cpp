/// Operands that are undefined, missing, or shared: what apply() and the typed functions say.
#include <algorithm>
#include <set>

#include "tests/refused.h"
#include "treadle/core/error.h"
#include "treadle/graph/autograd.h"
#include "treadle/graph/registry.h"
#include "treadle/ops/conv2d/conv2d.h"
#include "treadle/ops/conv2d/conv2d_relu.h"
#include "treadle/ops/conv2d_max_pool2d/conv2d_max_pool2d.h"
#include "treadle/ops/fill/fill.h"
#include "treadle/ops/layout/cast.h"
#include "treadle/ops/layout/concat.h"
#include "treadle/ops/layout/copy.h"
#include "treadle/ops/layout/index_select.h"
#include "treadle/ops/layout/slice_gradient.h"
#include "treadle/ops/layout/views.h"
#include "treadle/ops/loss/cross_entropy.h"
#include "treadle/ops/loss/mse.h"
#include "treadle/ops/matrix/linear.h"
#include "treadle/ops/matrix/linear_input_gradient.h"
#include "treadle/ops/matrix/matmul.h"
#include "treadle/ops/pointwise/pointwise.h"
#include "treadle/ops/pointwise/relu_gradient.h"
#include "treadle/ops/pool2d/avg_pool2d.h"
#include "treadle/ops/pool2d/max_pool2d.h"
#include "treadle/ops/random/random.h"
#include "treadle/ops/reduce/reduce.h"
#include "treadle/ops/softmax/softmax.h"
#include "treadle/optim/rule_optimizer.h"

namespace treadle {
namespace {

Tensor tensor_of(const Op& op, const TestInput& input) {
  if (!input.defined) return {};
  DType dtype = DType::f32;
  if (!input.dtype.empty())
    dtype = input.dtype[0];
  else
    for (DType candidate : kAllDTypes)
      if (op.dtypes.contains(candidate)) {
        dtype = candidate;
        break;
      }
  return Tensor::zeros(input.shape, dtype);
}

std::vector<Tensor> tensors_of(const Op& op, const TestCase& one) {
  std::vector<Tensor> tensors;
  for (const TestInput& input : one.inputs) tensors.push_back(tensor_of(op, input));
  return tensors;
}

void call(const Op& op, std::vector<Tensor> inputs, const Attributes& attributes) {
  NoGrad no_grad;
  if (op.mutates.empty())
    apply(op, std::move(inputs), attributes);
  else
    apply_in_place(op, std::move(inputs), attributes);
}

bool is_optional(const Op& op, int operand) {
  return std::count(op.optional.begin(), op.optional.end(), operand) > 0;
}

/// A case with all its operands and something in them.
const TestCase& whole_case(const std::vector<TestCase>& cases) {
  auto found = std::find_if(cases.begin(), cases.end(), [](const TestCase& one) {
    return std::all_of(one.inputs.begin(), one.inputs.end(),
                       [](const TestInput& input) { return input.defined && input.shape.numel() > 0; });
  });
  return found == cases.end() ? cases.front() : *found;
}

TEST(Operands, EachOpNamesTheOneThatIsUndefined) {
  for (const Op* op : registry().ops()) {
    const auto cases = op->cases();
    const TestCase& one = whole_case(cases);
    for (int k = 0; k < int(one.inputs.size()); ++k) {
      auto inputs = tensors_of(*op, one);
      inputs[size_t(k)] = {};
      if (is_optional(*op, k)) continue;
      expect_refused(
          {refused<ValueError>(op->name, {op->name + ": operand " + std::to_string(k + 1) + " is undefined"},
                               [&] { call(*op, inputs, one.attributes); })});
    }
  }
}

/// A call with too few operands throws; whether it says so by its number or by a rule of its own is free.
TEST(Operands, FewerThanAnOpNeedsAreRefused) {
  for (const Op* op : registry().ops()) {
    const auto cases = op->cases();
    const TestCase& one = whole_case(cases);
    size_t fewest = one.inputs.size();
    for (const TestCase& other : cases) fewest = std::min(fewest, other.inputs.size());
    for (int optional : op->optional) fewest = std::min(fewest, size_t(optional));
    for (size_t count = 0; count < fewest; ++count) {
      auto inputs = tensors_of(*op, one);
      inputs.resize(count);
      EXPECT_THROW(call(*op, inputs, one.attributes), Error) << op->name << " with " << count << " operands";
    }
  }
}

TEST(Operands, OptionalOnesAreThoseThatCasesLeaveOut) {
  for (const Op* op : registry().ops()) {
    std::set<int> left_out;
    for (const TestCase& one : op->cases())
      for (int k = 0; k < int(one.inputs.size()); ++k)
        if (!one.inputs[size_t(k)].defined) left_out.insert(k);
    EXPECT_EQ(std::vector<int>(left_out.begin(), left_out.end()), op->optional) << op->name;
  }
}

TEST(Operands, DTypesThatAnOpDoesNotTakeAreRefused) {
  for (const Op* op : registry().ops()) {
    const auto cases = op->cases();
    const TestCase& one = whole_case(cases);
    const auto fitting = tensors_of(*op, one);
    for (DType dtype : kAllDTypes) {
      if (op->dtypes.contains(dtype)) continue;
      std::vector<Tensor> inputs;
      for (const Tensor& input : fitting)
        inputs.push_back(input.defined() ? Tensor::zeros(input.shape(), dtype) : input);
      expect_refused({refused<DTypeError>(op->name, {op->name + ":", std::string(name_of(dtype))},
                                          [&] { call(*op, inputs, one.attributes); })});
    }
  }
}

TEST(Operands, OptionsOfAnotherOpAreRefused) {
  struct Other {};
  for (const Op* op : registry().ops()) {
    if (!op->options || op->options->fields.empty()) continue;
    const auto cases = op->cases();
    const TestCase& one = whole_case(cases);
    EXPECT_THROW(call(*op, tensors_of(*op, one), Attributes::of(Other{})), ValueError) << op->name;
  }
}

TEST(Operands, InPlaceAndNotAreToldApart) {
  const Tensor x = Tensor::from({1, 2}, {2});
  expect_refused({
      refused<ValueError>("fill by apply", {"fill", "apply_in_place"}, [&] { apply(op_named("fill"), {x}); }),
      refused<ValueError>("neg in place", {"neg", "apply()"}, [&] { apply_in_place(op_named("neg"), {x}); }),
      refused<ValueError>("no op", {"'nag'"}, [] { op_named("nag"); }),
  });
}

TEST(Options, WrongNamesAndKindsAreRefused) {
  auto make = [](const char* op, std::map<std::string, OptionValue> values) {
    return [=] { op_named(op).options->make(values); };
  };
  using List = std::vector<int64_t>;
  expect_refused({
      refused<ValueError>("name", {"'strides'", "stride"}, make("conv2d", {{"strides", int64_t(1)}})),
      refused<ValueError>("no pair", {"[1, 2, 3]", "2 entries"}, make("conv2d", {{"stride", List{1, 2, 3}}})),
      refused<ValueError>("empty pair", {"[]"}, make("conv2d", {{"stride", List{}}})),
      refused<ValueError>("three pads", {"[1, 2, 3]", "4 entries"},
                          make("conv2d", {{"padding", List{1, 2, 3}}})),
      refused<ValueError>("fraction", {"0.5", "list of integers"}, make("conv2d", {{"stride", 0.5}})),
      refused<ValueError>("text", {"abc", "an integer"}, make("conv2d", {{"groups", std::string("abc")}})),
      refused<ValueError>("bool", {"1", "true or false"}, make("sum", {{"keep_axes", int64_t(1)}})),
      refused<ValueError>("dtype", {"'f8'"}, make("cast", {{"dtype", std::string("f8")}})),
      refused<ShapeError>("nine axes", {"8 axes"}, make("reshape", {{"shape", List(9, 1)}})),
      refused<ValueError>("registered twice", {"'relu'"},
                          [] {
                            Registry other;
                            other.add({.name = "relu", .summary = ""});
                            other.add({.name = "relu", .summary = ""});
                          }),
      refused<ValueError>("variant of no op", {"'nag'"},
                          [] {
                            Registry other;
                            other.add_variant("nag",
                                              {.name = "loop", .device = DeviceKind::cpu, .run = nullptr});
                            other.finish();
                          }),
  });
}

struct Typed {
  std::string name;
  int operand;
  std::function<void()> call;
};

const Tensor none;

/// Each typed function with an undefined tensor in each place.
std::vector<Typed> typed_calls() {
  const Tensor x = Tensor::from({1, 2, 3, 4}, {2, 2}), image = Tensor::zeros({1, 1, 4, 4}),
               filter = Tensor::zeros({1, 1, 3, 3}), labels = Tensor::from(std::vector<int64_t>{0, 1}, {2}),
               flag = greater(x, 2), state = Tensor::zeros({2}, DType::f64),
               choice = Tensor::zeros({1, 1, 1, 1}, DType::u8),
               positions = Tensor::zeros({1, 1, 2, 2}, DType::i32);
  std::vector<Typed> list;
  auto unary = [&](const char* name, Tensor (*f)(const Tensor&)) {
    list.push_back({name, 1, [=] { f(none); }});
  };
  for (auto [name, f] : std::initializer_list<std::pair<const char*, Tensor (*)(const Tensor&)>>{
           {"neg", neg},
           {"abs", abs},
           {"exp", exp},
           {"log", log},
           {"sqrt", sqrt},
           {"relu", relu},
           {"sigmoid", sigmoid},
           {"tanh", tanh},
           {"gelu", gelu},
           {"silu", silu},
           {"contiguous", contiguous},
           {"copy", clone},
           {"to_channels_last", to_channels_last},
           {"full_like", zeros_like},
           {"full_like", ones_like},
           {"argmax", argmax}})
    unary(name, f);
  using Binary = Tensor (*)(const Operand&, const Operand&);
  for (auto [name, f] :
       std::initializer_list<std::pair<const char*, Binary>>{{"add", add},
                                                             {"sub", sub},
                                                             {"mul", mul},
                                                             {"div", div},
                                                             {"pow", pow},
                                                             {"maximum", maximum},
                                                             {"minimum", minimum},
                                                             {"equal", equal},
                                                             {"not_equal", not_equal},
                                                             {"less", less},
                                                             {"less_equal", less_equal},
                                                             {"greater", greater},
                                                             {"greater_equal", greater_equal}}) {
    list.push_back({name, 1, [=] { f(none, x); }});
    list.push_back({name, 2, [=] { f(x, none); }});
    list.push_back({name, 1, [=] { f(none, 2); }});
    list.push_back({name, 2, [=] { f(0.5, none); }});
  }
  auto add_call = [&](const char* name, int operand, std::function<void()> call) {
    list.push_back({name, operand, std::move(call)});
  };
  add_call("add", 2, [=] { x + none; });
  add_call("div", 1, [=] { none / 2; });
  add_call("neg", 1, [=] { -none; });
  add_call("leaky_relu", 1, [] { leaky_relu(none); });
  add_call("clamp", 1, [] { clamp(none, 0, 1); });
  add_call("where", 1, [=] { where(none, x, x); });
  add_call("where", 2, [=] { where(flag, none, x); });
  add_call("where", 3, [=] { where(flag, x, none); });
  add_call("scalar_like", 2, [] { scalar_like(1, none); });
  add_call("relu_gradient", 1, [=] { relu_gradient(none, x); });
  add_call("relu_gradient", 2, [=] { relu_gradient(x, none); });
  add_call("cast", 1, [] { cast(none, DType::f64); });
  add_call("cast", 1, [] { to(none, DType::f64); });
  add_call("to", 1, [] { to(none, kSimt); });
  add_call("copy_into", 1, [=] { copy_into(none, x); });
  add_call("copy_into", 2, [=] { copy_into(x, none); });
  add_call("fill", 1, [] { fill_(none, 1); });
  add_call("full_like", 1, [] { full_like(none, 1); });
  add_call("sum", 1, [] { sum(none); });
  add_call("mean", 1, [] { mean(none); });
  add_call("max", 1, [] { max(none); });
  add_call("min", 1, [] { min(none); });
  add_call("argmax", 1, [] { argmax(none, 0); });
  add_call("sum_to", 1, [] { sum_to(none, {1}); });
  add_call("reshape", 1, [] { reshape(none, {1}); });
  add_call("flatten", 1, [] { flatten(none); });
  add_call("squeeze", 1, [] { squeeze(none, 0); });
  add_call("unsqueeze", 1, [] { unsqueeze(none, 0); });
  add_call("permute", 1, [] { permute(none, {0}); });
  add_call("transpose", 1, [] { transpose(none, 0, 1); });
  add_call("slice", 1, [] { slice(none, 0, 0); });
  add_call("slice_gradient", 1, [] { slice_gradient(none, {}); });
  add_call("expand", 1, [] { expand(none, {2}); });
  add_call("concat", 1, [=] { concat({none, x}); });
  add_call("concat", 2, [=] { concat({x, none}); });
  add_call("index_select", 1, [=] { index_select(none, 0, labels); });
  add_call("index_select", 2, [=] { index_select(x, 0, none); });
  add_call("index_select_gradient", 1, [=] { index_select_gradient(none, 0, labels, 2); });
  add_call("index_select_gradient", 2, [=] { index_select_gradient(x, 0, none, 2); });
  add_call("uniform", 1, [] { uniform_(none); });
  add_call("normal", 1, [] { normal_(none); });
  add_call("bernoulli", 1, [] { bernoulli_(none); });
  add_call("softmax", 1, [] { softmax(none); });
  add_call("log_softmax", 1, [] { log_softmax(none); });
  add_call("cross_entropy", 1, [=] { cross_entropy(none, labels); });
  add_call("cross_entropy", 2, [=] { cross_entropy(x, none); });
  add_call("cross_entropy_with_gradient", 1, [=] { cross_entropy_with_gradient(none, labels); });
  add_call("cross_entropy_with_gradient", 2, [=] { cross_entropy_with_gradient(x, none); });
  add_call("mse", 1, [=] { mse(none, x); });
  add_call("mse", 2, [=] { mse(x, none); });
  add_call("matmul", 1, [=] { matmul(none, x); });
  add_call("matmul", 2, [=] { matmul(x, none); });
  add_call("linear", 1, [=] { linear(none, x); });
  add_call("linear", 2, [=] { linear(x, none); });
  add_call("linear_relu", 1, [=] { linear_relu(none, x); });
  add_call("linear_relu", 2, [=] { linear_relu(x, none); });
  add_call("linear_weight_gradient", 1, [=] { linear_weight_gradient(none, x); });
  add_call("linear_weight_gradient", 2, [=] { linear_weight_gradient(x, none); });
  add_call("conv2d", 1, [=] { conv2d(none, filter); });
  add_call("conv2d", 2, [=] { conv2d(image, none); });
  add_call("conv2d_relu", 1, [=] { conv2d_relu(none, filter); });
  add_call("conv2d_relu", 2, [=] { conv2d_relu(image, none); });
  add_call("conv2d_input_gradient", 1, [=] { conv2d_input_gradient(none, filter, {}); });
  add_call("conv2d_input_gradient", 2, [=] { conv2d_input_gradient(image, none, {}); });
  add_call("conv2d_weight_gradient", 1, [=] { conv2d_weight_gradient(none, image, {}); });
  add_call("conv2d_weight_gradient", 2, [=] { conv2d_weight_gradient(image, none, {}); });
  add_call("conv2d_max_pool2d", 1, [=] { conv2d_max_pool2d(none, filter); });
  add_call("conv2d_max_pool2d", 2, [=] { conv2d_max_pool2d(image, none); });
  for (int k = 1; k <= 3; ++k) {
    auto of = [=](int place, const Tensor& tensor) { return place == k ? none : tensor; };
    add_call("linear_input_gradient", k, [=] { linear_input_gradient(of(1, x), of(2, x), of(3, x)); });
    add_call("conv2d_max_pool2d_input_gradient", k,
             [=] { conv2d_max_pool2d_input_gradient(of(1, image), of(2, choice), of(3, filter), {}); });
    add_call("conv2d_max_pool2d_weight_gradient", k,
             [=] { conv2d_max_pool2d_weight_gradient(of(1, image), of(2, image), of(3, choice), {}); });
  }
  add_call("max_pool2d", 1, [] { max_pool2d(none); });
  add_call("max_pool2d", 1, [] { max_pool2d_with_positions(none); });
  add_call("max_pool2d_gradient", 1, [=] { max_pool2d_gradient(none, positions, {}); });
  add_call("max_pool2d_gradient", 2, [=] { max_pool2d_gradient(image, none, {}); });
  add_call("avg_pool2d", 1, [] { avg_pool2d(none); });
  add_call("avg_pool2d_gradient", 1, [] { avg_pool2d_gradient(none, {}); });
  return list;
}

/// Calls of an op in place, each with another of its operands undefined; `first` may be.
void add_calls(std::vector<Typed>& list, const std::string& op, const std::vector<Tensor>& operands,
               const Attributes& attributes, size_t first = 0) {
  for (size_t k = first; k < operands.size(); ++k) {
    auto call = [=] {
      auto inputs = operands;
      inputs[k] = none;
      apply_in_place(op_named(op), inputs, attributes);
    };
    list.push_back({op, int(k) + 1, call});
  }
}

/// The updates of all rules, of one parameter, of all, and behind a linear layer's gradient.
std::vector<Typed> update_calls() {
  const Tensor x = Tensor::from({1, 2, 3, 4}, {2, 2}), state = Tensor::zeros({2}, DType::f64);
  std::vector<Typed> list;
  for (const Rule& rule : known_rules())
    for (const NamedOptions& example : rule.examples) {
      const RuleForm& form = rule.form_for(example.options);
      std::vector<Tensor> group(form.slots.size() + 2, x), all = group, linear(form.slots.size() + 3, x);
      all.insert(all.begin(), state), linear.insert(linear.begin() + 2, state);
      const Attributes at = rule.at(example.options, 0.1, 1);
      add_calls(list, form.update, group, at);
      add_calls(list, form.update_all, all, at, 1);
      add_calls(list, "linear_" + form.update, linear, example.options);
    }
  return list;
}

TEST(Operands, UpdatesNameTheOneThatIsUndefined) {
  for (const Typed& one : update_calls())
    expect_refused({refused<ValueError>(
        one.name, {one.name + ": operand " + std::to_string(one.operand) + " is undefined"}, one.call)});
}

TEST(Operands, TypedFunctionsNameTheOneThatIsUndefined) {
  for (const Typed& one : typed_calls())
    expect_refused({refused<ValueError>(
        one.name, {one.name + ": operand " + std::to_string(one.operand) + " is undefined"}, one.call)});
}

/// Functions that can leave an operand out.
TEST(Operands, BiasMayBeLeftOut) {
  const Tensor x = Tensor::from({1, 2, 3, 4}, {2, 2});
  EXPECT_EQ(linear(x, x, none).shape(), (Shape{2, 2}));
  EXPECT_EQ(conv2d(Tensor::zeros({1, 1, 4, 4}), Tensor::zeros({1, 1, 3, 3}), none).shape(),
            (Shape{1, 1, 2, 2}));
}

}  // namespace
}  // namespace treadle
