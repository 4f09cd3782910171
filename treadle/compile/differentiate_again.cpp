#include "treadle/compile/differentiate_again.h"

#include <optional>

#include "treadle/core/error.h"
#include "treadle/graph/apply.h"
#include "treadle/graph/autocast.h"
#include "treadle/graph/op.h"

namespace treadle {
namespace {

/// What follows a chain cannot be recorded again once it is fused, such as a view of another layout.
struct NotFusible : Error {
  using Error::Error;
};

}  // namespace

DifferentiateAgain::DifferentiateAgain(const Recorder& from, Recorder& into)
    : from_(from),
      into_(into),
      mapped_(from.graph().values().size()),
      bases_(from.graph().buffers().size(), kNoValue) {
  into.adopt_inputs(from);
}

void DifferentiateAgain::run(const RecordedGraph& graph) {
  RecordingScope scope(into_);
  const Autocast no_autocast(DType::f32);  // what it cast are steps
  for (size_t i = 0; i < graph.steps.size(); ++i) {
    const StepRecord& record = graph.records[i];
    record.backward ? run_backward(graph.steps[i], *record.backward) : run_step(graph.steps[i], record);
  }
}

Tensor DifferentiateAgain::tensor(int value) {
  if (value == kNoValue) return {};
  Tensor& mapped = mapped_[size_t(value)];
  if (mapped.defined()) return mapped;
  if (from_.graph().memory_of(value).kind != GraphBuffer::Kind::result) return mapped = from_.tensor(value);
  const int base = bases_[size_t(from_.graph().buffer_of(value))];
  return mapped = base == kNoValue ? fresh(value) : alias(value);
}

/// Memory that no step has made: it is filled in place.
Tensor DifferentiateAgain::fresh(int value) {
  const TensorSpec& spec = from_.graph().spec(value);
  bases_[size_t(from_.graph().buffer_of(value))] = value;
  return Tensor::symbolic(spec.shape, spec.strides, spec.dtype, from_.tensor(value).device(),
                          from_.tensor(value).handle()->storage->origin());
}

/// Another view of a buffer that a mapped tensor lies in.
Tensor DifferentiateAgain::alias(int value) {
  const StepGraph& graph = from_.graph();
  const TensorSpec& spec = graph.spec(value);
  const int base = bases_[size_t(graph.buffer_of(value))];
  const Tensor& mapped = mapped_[size_t(base)];
  if (!(mapped.strides() == graph.spec(base).strides) || mapped.dtype() != spec.dtype)
    throw NotFusible(fmt::format("a view {} of '{}' would have another layout", spec.shape,
                                 from_.tensor(value).handle()->storage->origin()));
  return mapped.alias(spec.shape, spec.strides, graph.offset_of(value) - graph.offset_of(base));
}

void DifferentiateAgain::bind(int value, const Tensor& tensor) {
  if (value == kNoValue) return;
  mapped_[size_t(value)] = tensor;
  bases_[size_t(from_.graph().buffer_of(value))] = value;
}

Tensor DifferentiateAgain::input(const Step& step, const StepRecord& record, size_t i) {
  if (step.inputs[i] == kNoValue) return {};
  if (record.flows[i]) return in_graph(step.inputs[i], record.states[i], bool(record.leaves[i]));
  const Tensor mapped = tensor(step.inputs[i]);
  return mapped.requires_grad() ? mapped.detach() : mapped;
}

/// One value may be known under several places in the graph: itself, a leaf made of it, a view.
Tensor DifferentiateAgain::in_graph(int value, const IntrusivePtr<AutogradState>& state, bool is_leaf) {
  if (is_leaf) return as_leaf(tensor(value), state);
  const auto found = in_graph_.find(GraphPlace::of(state));
  require<NotFusible>(found != in_graph_.end(), "the gradient of a tensor {} would be lost",
                      from_.graph().spec(value).shape);
  return found->second;
}

void DifferentiateAgain::run_step(const Step& step, const StepRecord& record) {
  std::optional<NoGrad> no_grad;
  if (!record.gradient_mode) no_grad.emplace();
  std::vector<Tensor> inputs;
  for (size_t i = 0; i < step.inputs.size(); ++i) inputs.push_back(input(step, record, i));
  if (!step.op->mutates.empty()) return apply_in_place(*step.op, inputs, step.attributes);
  const auto outputs = apply(*step.op, inputs, step.attributes);
  for (size_t k = 0; k < step.outputs.size(); ++k) {
    bind(step.outputs[k], outputs[k]);
    if (const auto& state = record.results[k].handle()->autograd)
      in_graph_[GraphPlace::of(state)] = outputs[k];
  }
}

void DifferentiateAgain::run_backward(const Step& step, const RecordedBackward& backward) {
  constexpr size_t kFirstGradient = 2;  // behind the root and its gradient
  for (size_t i = 0; i < backward.before.size(); ++i)
    into_.gradient_of(backward.before[i], {}) = tensor(step.inputs[kFirstGradient + i]);
  const Tensor root = in_graph(step.inputs[0], backward.root_state, backward.root_is_leaf);
  root.backward(tensor(step.inputs[1]), backward.retain_graph);
  for (size_t i = 0; i < backward.after.size(); ++i) {
    const Tensor& gradient = into_.gradient_of(backward.after[i], {});
    require<NotFusible>(gradient.defined() == (step.outputs[i] != kNoValue),
                        "a leaf would have another gradient");
    bind(step.outputs[i], gradient);
  }
}

}  // namespace treadle
