/// Ops that are another op followed by ReLU, declared from that op: y = relu(base(…)).
///
/// `Base` has kName, the other op's name. Its shape rule, reference, cases and error bound serve both; the
/// gradient is the other op's, given dz = relu_gradient(y, dy).
#pragma once

#include "treadle/graph/registry.h"
#include "treadle/graph/select.h"
#include "treadle/ops/pointwise/functions/relu.h"
#include "treadle/ops/pointwise/pointwise.h"
#include "treadle/ops/pointwise/relu_gradient.h"

namespace treadle::with_relu {

template <class Base>
const Op& base() {
  static const Op& op = op_named(Base::kName);
  return op;
}

template <class Base>
std::vector<TensorSpec> infer(Specs inputs, const Attributes& attributes) {
  return base<Base>().infer(inputs, attributes);
}

template <class Base>
std::vector<ReferenceTensor> reference(ReferenceInputs inputs, const Attributes& attributes) {
  auto outputs = base<Base>().reference(inputs, attributes);
  for (double& value : outputs[0].values) value = value < 0 ? 0 : value;  // NaN stays
  return outputs;
}

template <class Base>
std::vector<TestCase> cases() {
  return base<Base>().cases();
}

template <class Base>
ErrorModel error(Specs inputs, const Attributes& attributes) {
  return base<Base>().error(inputs, attributes);
}

/// The context of the op before ReLU: the same but for the gradient that arrives.
class ContextBeforeRelu final : public GradientContext {
 public:
  ContextBeforeRelu(const GradientContext& context, Tensor upstream)
      : context_(context), upstream_(std::move(upstream)) {}
  const Attributes& attributes() const override { return context_.attributes(); }
  Tensor input(int i) const override { return context_.input(i); }
  Tensor output(int i) const override { return context_.output(i); }
  Tensor upstream(int) const override { return upstream_; }
  bool needs(int i) const override { return context_.needs(i); }
  const TensorSpec& input_spec(int i) const override { return context_.input_spec(i); }
  const TensorSpec& output_spec(int i) const override { return context_.output_spec(i); }

 private:
  const GradientContext& context_;
  Tensor upstream_;
};

template <class Base>
std::vector<Tensor> gradient(const GradientContext& context) {
  const Tensor dz = relu_gradient(context.output(0), context.upstream());
  return base<Base>().gradient(ContextBeforeRelu(context, dz));
}

/// ReLU in place, by the device's own variants.
inline void apply_relu(const TensorView& y, const Call& call, DeviceKind device) {
  static const Attributes options = Attributes::of(Relu{});
  const Call in_place{{&y, 1}, {&y, 1}, options, call.stream, call.scratch};
  select_variant(relu_op(), in_place, device).run(in_place);
}

/// The other op's preferred variant, then ReLU in place.
template <class Base, DeviceKind device>
void run_in_two_steps(const Call& call) {
  select_variant(base<Base>(), call, device).run(call);
  apply_relu(call.output(), call, device);
}

/// Declares the op, adds, for every device, the variant that goes in two steps, and takes the place of the
/// other op and ReLU in programs.
template <class Base>
void add(Registry& registry, const char* name, const char* summary, const OptionsSchema* options) {
  registry.add_fusion(ChainFusion{{base<Base>, relu_op}, [name](const MatchedChain& chain) {
                                    return FusedCall{&op_named(name), *chain.attributes[0]};
                                  }});
  registry.add({.name = name,
                .summary = summary,
                .options = options,
                .optional = {2},
                .infer = infer<Base>,
                .reference = reference<Base>,
                .gradient = gradient<Base>,
                .saves = {{Saved::input, 0}, {Saved::input, 1}, {Saved::output, 0}},
                .cases = cases<Base>,
                .error = error<Base>,
                .operations = [](const Call& call) { return base<Base>().operations(call); },
                .never_negative = [](const Attributes&) { return true; }});
  auto add = [&](DeviceKind device, void (*run)(const Call&)) {
    registry.add_variant(name, {.name = "two_steps", .device = device, .run = run, .preference = 10});
  };
  add(DeviceKind::cpu, run_in_two_steps<Base, DeviceKind::cpu>);
  add(DeviceKind::simt, run_in_two_steps<Base, DeviceKind::simt>);
  add(DeviceKind::cuda, run_in_two_steps<Base, DeviceKind::cuda>);
}

}  // namespace treadle::with_relu
