/// Ops that are another op followed by ReLU, declared from that op: y = relu(base(…)).
///
/// The other op's shape rule, reference, cases and error bound serve both; the gradient is the other op's,
/// given dz = relu_gradient(y, dy).
#pragma once

#include "treadle/graph/registry.h"
#include "treadle/ops/pointwise/pointwise.h"
#include "treadle/ops/pointwise/relu_gradient.h"

namespace treadle::with_relu {

/// The op before ReLU.
using Base = const Op& (*)();

inline std::vector<ReferenceTensor> reference(const Op& base, ReferenceInputs inputs,
                                              const Attributes& attributes) {
  auto outputs = base.reference(inputs, attributes);
  for (double& value : outputs[0].values) value = value < 0 ? 0 : value;  // NaN stays
  return outputs;
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

inline std::vector<Tensor> gradient(const Op& base, const GradientContext& context) {
  const Tensor dz = relu_gradient(context.output(0), context.upstream());
  return base.gradient(ContextBeforeRelu(context, dz));
}

/// The other op, then ReLU in place.
inline void compose(const Op& base, const Composition& call) {
  call.run(base, call.inputs(), call.outputs(), call.attributes());
  call.run(relu_op(), {call.output()}, {call.output()});
}

/// Declares the op, which takes the place of the other op and ReLU in programs.
inline void add(Registry& registry, const char* name, const char* summary, Base base,
                const OptionsSchema* options) {
  registry.add_fusion(ChainFusion{{base, relu_op}, [name](const MatchedChain& chain) {
                                    return FusedCall{&op_named(name), *chain.attributes[0]};
                                  }});
  registry.add(
      {.name = name,
       .summary = summary,
       .options = options,
       .autocast = AutocastPolicy::low,
       .optional = {2},
       .infer = [base](Specs x, const Attributes& a) { return base().infer(x, a); },
       .reference = [base](ReferenceInputs x, const Attributes& a) { return reference(base(), x, a); },
       .rows = [base](Specs x, const Attributes& a) { return base().rows(x, a); },
       .gradient = [base](const GradientContext& context) { return gradient(base(), context); },
       .saves = {{Saved::input, 0}, {Saved::input, 1}, {Saved::output, 0}},
       .compose = [base](const Composition& call) { compose(base(), call); },
       .cases = [base] { return base().cases(); },
       .error = [base](Specs x, const Attributes& a) { return base().error(x, a); },
       .operations = [base](const Call& call) { return base().operations(call); },
       .never_negative = [](const Attributes&) { return true; }});
}

}  // namespace treadle::with_relu
