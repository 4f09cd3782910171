#include "treadle/ops/optimizer_update.h"

#include "treadle/core/error.h"
#include "treadle/graph/registry.h"
#include "treadle/ops/strided_operands.h"

namespace treadle {
namespace {

constexpr int64_t kGrain = 16384;  ///< elements worth a thread

void require_alike(const char* op, Specs inputs) {
  require_same_dtype(op, inputs);
  for (const TensorSpec& input : inputs)
    require<ShapeError>(input.shape == inputs[0].shape, "{}: the parameter has shape {}, an operand {}", op,
                        inputs[0].shape, input.shape);
}

std::vector<TensorSpec> infer_sgd(Specs inputs, const Attributes&) {
  require_alike("sgd_update", inputs);
  return {inputs[0]};
}

std::vector<TensorSpec> infer_sgd_momentum(Specs inputs, const Attributes&) {
  require_alike("sgd_momentum_update", inputs);
  return {inputs[0], inputs[2]};
}

std::vector<TensorSpec> infer_adam(Specs inputs, const Attributes& attributes) {
  require_alike("adam_update", inputs);
  require<ValueError>(attributes.as<AdamUpdateOptions>().step >= 1, "adam_update: steps count from 1, not {}",
                      attributes.as<AdamUpdateOptions>().step);
  return {inputs[0], inputs[2], inputs[3]};
}

std::vector<ReferenceTensor> sgd_reference(ReferenceInputs inputs, const Attributes& attributes) {
  const auto& o = attributes.as<SgdUpdateOptions>();
  ReferenceTensor p = inputs[0];
  for (size_t i = 0; i < p.values.size(); ++i)
    p.values[i] -= o.learning_rate * (inputs[1].values[i] + o.weight_decay * p.values[i]);
  return {p};
}

std::vector<ReferenceTensor> sgd_momentum_reference(ReferenceInputs inputs, const Attributes& attributes) {
  const auto& o = attributes.as<SgdUpdateOptions>();
  ReferenceTensor p = inputs[0], b = inputs[2];
  for (size_t i = 0; i < p.values.size(); ++i) {
    double g = inputs[1].values[i] + o.weight_decay * p.values[i];
    b.values[i] = o.first_step ? g : o.momentum * b.values[i] + (1 - o.dampening) * g;
    p.values[i] -= o.learning_rate * (o.nesterov ? g + o.momentum * b.values[i] : b.values[i]);
  }
  return {p, b};
}

std::vector<ReferenceTensor> adam_reference(ReferenceInputs inputs, const Attributes& attributes) {
  const auto& o = attributes.as<AdamUpdateOptions>();
  ReferenceTensor p = inputs[0], m = inputs[2], v = inputs[3];
  for (size_t i = 0; i < p.values.size(); ++i) {
    double g = inputs[1].values[i];
    if (o.decoupled)
      p.values[i] *= 1 - o.learning_rate * o.weight_decay;
    else
      g += o.weight_decay * p.values[i];
    m.values[i] = o.beta1 * m.values[i] + (1 - o.beta1) * g;
    v.values[i] = o.beta2 * v.values[i] + (1 - o.beta2) * g * g;
    double mean = m.values[i] / (1 - std::pow(o.beta1, o.step)),
           square = v.values[i] / (1 - std::pow(o.beta2, o.step));
    p.values[i] -= o.learning_rate * mean / (std::sqrt(square) + o.epsilon);
  }
  return {p, m, v};
}

/// Cases over shapes and layouts for operands with these fills.
template <class Options>
void add_cases(std::vector<TestCase>& cases, const std::string& label, const std::vector<TestFill>& fills,
               const Options& options) {
  auto add = [&](const char* kind, Shape shape, TestLayout first, TestLayout second) {
    TestCase c{label + kind, {}, Attributes::of(options)};
    for (TestFill fill : fills) c.inputs.push_back({shape, fill, c.inputs.size() == 1 ? second : first});
    cases.push_back(std::move(c));
  };
  const TestLayout rows = TestLayout::contiguous, nhwc = TestLayout::channels_last;
  add(", odd", {1027}, rows, rows);
  add(", one", {1}, rows, rows);
  add(", empty", {0, 3}, rows, rows);
  add(", channels_last", {4, 3, 2, 5}, nhwc, nhwc);
  add(", mixed layouts", {4, 3, 2, 5}, nhwc, rows);
  add(", sliced", {5, 7}, TestLayout::sliced, TestLayout::transposed);
}

std::vector<TestCase> sgd_cases() {
  std::vector<TestCase> cases;
  add_cases(cases, "plain", {{}, {}}, SgdUpdateOptions{0.05});
  add_cases(cases, "decay", {{}, {}}, SgdUpdateOptions{0.1, 0, 0, 0.01});
  return cases;
}

std::vector<TestCase> sgd_momentum_cases() {
  std::vector<TestCase> cases;
  add_cases(cases, "momentum", {{}, {}, {}}, SgdUpdateOptions{0.05, 0.9});
  add_cases(cases, "dampening", {{}, {}, {}}, SgdUpdateOptions{0.05, 0.9, 0.5, 0.01});
  add_cases(cases, "nesterov", {{}, {}, {}}, SgdUpdateOptions{0.05, 0.9, 0, 5e-4, true});
  add_cases(cases, "first", {{}, {}, {}}, SgdUpdateOptions{0.05, 0.9, 0.5, 0, false, true});
  return cases;
}

std::vector<TestCase> adam_cases() {
  const TestFill square{TestFill::apart, 0.3, 2};
  std::vector<TestCase> cases;
  add_cases(cases, "first", {{}, {}, {}, square}, AdamUpdateOptions{.learning_rate = 0.01});
  add_cases(cases, "tenth", {{}, {}, {}, square},
            AdamUpdateOptions{.learning_rate = 0.01, .weight_decay = 0.1, .step = 10});
  add_cases(cases, "decoupled", {{}, {}, {}, square},
            AdamUpdateOptions{
                .learning_rate = 0.01, .epsilon = 1e-3, .weight_decay = 0.1, .decoupled = true, .step = 3});
  return cases;
}

/// A few roundings of numbers as large as the operands; Adam squares gradients of up to 2.
ErrorModel error(Specs, const Attributes&) { return {ErrorModel::largest_input, 8}; }

/// Row loops: the step works on registers, the operands do not overlap.
template <class T, class Step>
void update_row(const Step& step, int64_t count, T* __restrict p, const T* __restrict g) {
  for (int64_t i = 0; i < count; ++i) {
    HostCompute<T> parameter = p[i];
    step(parameter, g[i]);
    p[i] = T(parameter);
  }
}

template <class T, class Step>
void update_row(const Step& step, int64_t count, T* __restrict p, const T* __restrict g, T* __restrict b) {
  for (int64_t i = 0; i < count; ++i) {
    HostCompute<T> parameter = p[i], buffer = b[i];
    step(parameter, g[i], buffer);
    p[i] = T(parameter), b[i] = T(buffer);
  }
}

template <class T, class Step>
void update_row(const Step& step, int64_t count, T* __restrict p, const T* __restrict g, T* __restrict m,
                T* __restrict v) {
  for (int64_t i = 0; i < count; ++i) {
    HostCompute<T> parameter = p[i], first = m[i], second = v[i];
    step(parameter, g[i], first, second);
    p[i] = T(parameter), m[i] = T(first), v[i] = T(second);
  }
}

/// Walks K operands together; rows that are dense in all of them in one loop, others element by element.
template <class T, class Step, size_t... K>
void update(const Call& call, const Step& step, std::index_sequence<K...>) {
  constexpr int kOperands = sizeof...(K);
  auto nest = make_strided<kOperands>(call.input(0).shape, {call.input(K).strides...});
  for_each_row(nest, kGrain, [&](const auto& o, const auto& s, int64_t count) {
    if (((s[K] == 1) && ...)) return update_row<T>(step, count, call.input(K).template as<T>() + o[K]...);
    for (int64_t i = 0; i < count; ++i)
      update_row<T>(step, 1, call.input(K).template as<T>() + o[K] + i * s[K]...);
  });
}

void run_sgd(const Call& call) {
  with_floating_type(call.input(0).dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    update<T>(call, sgd_step<HostCompute<T>>(call.options<SgdUpdateOptions>()),
              std::make_index_sequence<2>{});
  });
}

void run_sgd_momentum(const Call& call) {
  with_floating_type(call.input(0).dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    update<T>(call, sgd_momentum_step<HostCompute<T>>(call.options<SgdUpdateOptions>()),
              std::make_index_sequence<3>{});
  });
}

void run_adam(const Call& call) {
  with_floating_type(call.input(0).dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    update<T>(call, adam_step<HostCompute<T>>(call.options<AdamUpdateOptions>()),
              std::make_index_sequence<4>{});
  });
}

}  // namespace

namespace ops {

void register_optimizer_update(Registry& registry) {
  registry.add({.name = "sgd_update",
                .summary = "p -= rate·(g + weight_decay·p)",
                .options = &schema_of<SgdUpdateOptions>(),
                .infer = infer_sgd,
                .reference = sgd_reference,
                .mutates = {0},
                .cases = sgd_cases,
                .error = error});
  registry.add({.name = "sgd_momentum_update",
                .summary = "b = momentum·b + (1 - dampening)·g, p -= rate·b",
                .options = &schema_of<SgdUpdateOptions>(),
                .infer = infer_sgd_momentum,
                .reference = sgd_momentum_reference,
                .mutates = {0, 2},
                .cases = sgd_momentum_cases,
                .error = error});
  registry.add({.name = "adam_update",
                .summary = "moments m and v of the gradient, p -= rate·m̂ / (√v̂ + ε)",
                .options = &schema_of<AdamUpdateOptions>(),
                .infer = infer_adam,
                .reference = adam_reference,
                .mutates = {0, 2, 3},
                .cases = adam_cases,
                .error = error});
  registry.add_variant("sgd_update", {.name = "loop", .device = DeviceKind::cpu, .run = run_sgd});
  registry.add_variant("sgd_momentum_update",
                       {.name = "loop", .device = DeviceKind::cpu, .run = run_sgd_momentum});
  registry.add_variant("adam_update", {.name = "loop", .device = DeviceKind::cpu, .run = run_adam});
}

}  // namespace ops

void sgd_update(const Tensor& parameter, const Tensor& gradient, const Tensor& momentum_buffer,
                const SgdUpdateOptions& options) {
  static const Op &plain = op_named("sgd_update"), &with_momentum = op_named("sgd_momentum_update");
  if (momentum_buffer.defined())
    return apply_in_place(with_momentum, {parameter, gradient, momentum_buffer}, Attributes::of(options));
  require<ValueError>(options.momentum == 0, "sgd_update: momentum {} needs a buffer", options.momentum);
  apply_in_place(plain, {parameter, gradient}, Attributes::of(options));
}

void adam_update(const Tensor& parameter, const Tensor& gradient, const Tensor& first_moment,
                 const Tensor& second_moment, const AdamUpdateOptions& options) {
  static const Op& op = op_named("adam_update");
  apply_in_place(op, {parameter, gradient, first_moment, second_moment}, Attributes::of(options));
}

}  // namespace treadle
