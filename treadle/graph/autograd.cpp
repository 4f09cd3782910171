#include "treadle/graph/autograd.h"

#include <algorithm>
#include <atomic>

#include "treadle/core/error.h"
#include "treadle/graph/autograd_node.h"
#include "treadle/graph/recording.h"

namespace treadle {
namespace {

thread_local bool gradient_mode_on = true;
thread_local bool creates_graph = false;
std::atomic<uint64_t> next_sequence{0};

GradientState& ensure_state(const Tensor& tensor) {
  auto& slot = tensor.handle()->autograd;
  if (!slot) slot = IntrusivePtr<AutogradState>(new GradientState);
  return static_cast<GradientState&>(*slot);
}

void set_gradient_slot(GradientState& state, const Tensor& gradient) {
  if (Recording* current = recording())
    current->set_gradient_of(IntrusivePtr<AutogradState>(&state), state.grad, gradient);
  else
    state.grad = gradient;
}

Edge edge_to(const Tensor& input) {
  GradientState* state = state_of(input);
  if (!state) return {};
  if (state->node) return {state->node, state->output_index, {}};
  if (state->requires_grad) return {{}, 0, input.handle()->autograd};
  return {};
}

}  // namespace

Tensor& gradient_slot(GradientState& state) {
  Recording* current = recording();
  return current ? current->gradient_of(IntrusivePtr<AutogradState>(&state), state.grad) : state.grad;
}

Node::Node(const Op& op, const std::vector<Tensor>& inputs, const std::vector<Tensor>& outputs,
           const Attributes& attributes)
    : op(op), attributes(attributes), sequence(next_sequence++) {
  for (const Tensor& input : inputs)
    input_specs.push_back(TensorSpec::of(input)), edges.push_back(edge_to(input));
  for (const Tensor& output : outputs) output_specs.push_back(TensorSpec::of(output));
  device = outputs[0].device();
  for (Saved entry : op.saves) {
    const auto& source = entry.kind == Saved::input ? inputs : outputs;
    saved.push_back(entry.index < int(source.size()) ? SavedTensor::of(source[entry.index]) : SavedTensor{});
  }
}

/// The list belongs to the destructor that began; what the thread keeps is a pointer, since static tensors
/// outlive a thread's objects.
Node::~Node() {
  thread_local std::vector<IntrusivePtr<Node>>* draining = nullptr;
  std::vector<IntrusivePtr<Node>> own;
  const bool begins = draining == nullptr;
  if (begins) draining = &own;
  for (Edge& edge : edges)
    if (edge.node) draining->push_back(std::move(edge.node));
  if (!begins) return;
  while (!own.empty()) {
    auto next = std::move(own.back());
    own.pop_back();
  }
  draining = nullptr;
}

GraphPlace Edge::place() const {
  return {leaf ? static_cast<const void*>(leaf.get()) : node.get(), output_index};
}

bool carries_gradient(const Op& op, int i, DType dtype) {
  return is_floating(dtype) && std::find(op.not_differentiable.begin(), op.not_differentiable.end(), i) ==
                                   op.not_differentiable.end();
}

void set_place(const Tensor& tensor, const IntrusivePtr<Node>& node, int output_index) {
  GradientState& state = ensure_state(tensor);
  state.requires_grad = true;
  state.node = node;
  state.output_index = output_index;
}

bool gradient_mode() { return gradient_mode_on; }
NoGrad::NoGrad() : before_(gradient_mode_on) { gradient_mode_on = false; }
NoGrad::~NoGrad() { gradient_mode_on = before_; }
EnableGrad::EnableGrad() : before_(gradient_mode_on) { gradient_mode_on = true; }
EnableGrad::~EnableGrad() { gradient_mode_on = before_; }

GraphPlace GraphPlace::of(const IntrusivePtr<AutogradState>& state) {
  const auto* place = static_cast<const GradientState*>(state.get());
  return place && place->node ? GraphPlace{place->node.get(), place->output_index} : GraphPlace{place, 0};
}

GraphCreation::GraphCreation(bool on) : creates_before_(creates_graph), mode_before_(gradient_mode_on) {
  creates_graph = gradient_mode_on = on;
}
GraphCreation::~GraphCreation() { creates_graph = creates_before_, gradient_mode_on = mode_before_; }

void record_node(const Op& op, const std::vector<Tensor>& inputs, std::vector<Tensor>& outputs,
                 const Attributes& attributes) {
  bool required = std::any_of(inputs.begin(), inputs.end(),
                              [](const Tensor& input) { return input.defined() && input.requires_grad(); });
  if (!required || (!op.gradient && !creates_graph)) return;
  auto node = make_intrusive<Node>(op, inputs, outputs, attributes);
  for (int i = 0; i < int(outputs.size()); ++i)
    if (carries_gradient(op, i, outputs[i].dtype())) set_place(outputs[i], node, i);
}

void register_gradient_hook(const Tensor& leaf, std::function<void(const Tensor&)> hook) {
  require<AutogradError>(leaf.requires_grad() && !state_of(leaf)->node,
                         "gradient hooks belong to leaves that require a gradient");
  require<ValueError>(bool(hook), "register_gradient_hook: the hook is empty");
  state_of(leaf)->hooks.push_back(std::move(hook));
}

size_t gradient_hooks(const Tensor& leaf) {
  const GradientState* state = state_of(leaf);
  return state ? state->hooks.size() : 0;
}

IntrusivePtr<AutogradState> leaf_state(const Tensor& tensor) {
  GradientState* state = state_of(tensor);
  return state && state->requires_grad && !state->node ? tensor.handle()->autograd
                                                       : IntrusivePtr<AutogradState>();
}

Tensor as_leaf(const Tensor& tensor, const IntrusivePtr<AutogradState>& state) {
  if (tensor.handle()->autograd == state) return tensor;
  Tensor leaf = tensor.detach();
  leaf.handle()->autograd = state;
  return leaf;
}

void set_leaf_gradient(const IntrusivePtr<AutogradState>& state, const Tensor& gradient) {
  static_cast<GradientState&>(*state).grad = gradient;
}

const Tensor& leaf_gradient(const IntrusivePtr<AutogradState>& state) {
  return static_cast<GradientState&>(*state).grad;
}

bool Tensor::requires_grad() const {
  GradientState* state = state_of(*this);
  return state && state->requires_grad;
}

Tensor& Tensor::set_requires_grad(bool value) {
  existing("set_requires_grad");
  require<DTypeError>(!value || is_floating(dtype()),
                      "only floating tensors can require a gradient, this one is {}", name_of(dtype()));
  GradientState& state = ensure_state(*this);
  require<AutogradError>(!state.node,
                         "only a leaf can be told whether it requires a gradient; detach() it first");
  state.requires_grad = value;
  return *this;
}

Tensor Tensor::grad() const {
  GradientState* state = state_of(*this);
  return state ? gradient_slot(*state) : Tensor();
}

void Tensor::set_grad(const Tensor& gradient) {
  existing("set_grad");
  if (!gradient.defined()) {
    if (GradientState* state = state_of(*this)) set_gradient_slot(*state, {});
    return;
  }
  require<ShapeError>(gradient.shape() == shape(), "set_grad: the gradient has shape {}, the tensor {}",
                      gradient.shape(), shape());
  require<DTypeError>(gradient.dtype() == dtype(), "set_grad: the gradient is {}, the tensor {}",
                      name_of(gradient.dtype()), name_of(dtype()));
  require<DeviceError>(gradient.device() == device(), "set_grad: the gradient is on {}, the tensor on {}",
                       gradient.device(), device());
  set_gradient_slot(ensure_state(*this), gradient.detach());
}

}  // namespace treadle
