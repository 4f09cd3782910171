#include "treadle/graph/autograd.h"

#include <algorithm>
#include <atomic>
#include <queue>
#include <unordered_map>

#include "treadle/core/error.h"
#include "treadle/core/floating_point.h"
#include "treadle/core/runtime.h"
#include "treadle/graph/recording.h"
#include "treadle/graph/registry.h"

namespace treadle {
namespace {

thread_local bool gradient_mode_on = true;
std::atomic<uint64_t> next_sequence{0};

class Node;

/// What a tensor knows of the graph: its own gradient if it is a leaf, else the node that made it.
struct GradientState final : AutogradState {
  bool requires_grad = false;
  Tensor grad;
  IntrusivePtr<Node> node;
  int output_index = 0;
  std::vector<std::function<void(const Tensor&)>> hooks;
};

GradientState* state_of(const Tensor& tensor) {
  return tensor.defined() ? static_cast<GradientState*>(tensor.handle()->autograd.get()) : nullptr;
}

GradientState& ensure_state(const Tensor& tensor) {
  auto& slot = tensor.handle()->autograd;
  if (!slot) slot = IntrusivePtr<AutogradState>(new GradientState);
  return static_cast<GradientState&>(*slot);
}

/// Where a leaf's gradient is kept: with the leaf, or with the recording in progress.
Tensor& gradient_slot(GradientState& state) {
  Recording* current = recording();
  return current ? current->gradient_of(IntrusivePtr<AutogradState>(&state), state.grad) : state.grad;
}

void set_gradient_slot(GradientState& state, const Tensor& gradient) {
  if (Recording* current = recording())
    current->set_gradient_of(IntrusivePtr<AutogradState>(&state), state.grad, gradient);
  else
    state.grad = gradient;
}

/// A saved tensor is held without its history, so that a node never owns itself through its output.
struct SavedTensor {
  Tensor tensor;
  uint64_t version = 0;

  static SavedTensor of(const Tensor& source) {
    if (!source.defined()) return {};
    return {source.detach(), source.handle()->storage->version()};
  }
};

/// Where an input's gradient goes: to the node that made it, or to the leaf itself.
struct Edge {
  IntrusivePtr<Node> node;
  int output_index = 0;
  IntrusivePtr<AutogradState> leaf;
  bool needed() const { return node || leaf; }
};

class Node final : public RefCounted {
 public:
  Node(const Op& op, const std::vector<Tensor>& inputs, const std::vector<Tensor>& outputs,
       const Attributes& attributes)
      : op(op), attributes(attributes), sequence(next_sequence++) {
    for (const Tensor& input : inputs)
      input_specs.push_back(TensorSpec::of(input)), edges.push_back(edge_to(input));
    for (const Tensor& output : outputs) output_specs.push_back(TensorSpec::of(output));
    device = outputs[0].device();
    for (Saved entry : op.saves) {
      const auto& source = entry.kind == Saved::input ? inputs : outputs;
      saved.push_back(entry.index < int(source.size()) ? SavedTensor::of(source[entry.index])
                                                       : SavedTensor{});
    }
  }

  /// Frees chains of nodes one after another: a long chain must not recurse. The list belongs to the
  /// destructor that began; what the thread keeps is a pointer, since static tensors outlive a thread's
  /// objects.
  ~Node() override {
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

  const Op& op;
  Attributes attributes;
  uint64_t sequence;
  Device device;
  std::vector<Edge> edges;
  std::vector<TensorSpec> input_specs, output_specs;
  std::vector<SavedTensor> saved;
  bool freed = false;

 private:
  static Edge edge_to(const Tensor& input) {
    GradientState* state = state_of(input);
    if (!state) return {};
    if (state->node) return {state->node, state->output_index, {}};
    if (state->requires_grad) return {{}, 0, input.handle()->autograd};
    return {};
  }
};

class NodeContext final : public GradientContext {
 public:
  NodeContext(const Node& node, const std::vector<Tensor>& upstream) : node_(node), upstream_(upstream) {}

  const Attributes& attributes() const override { return node_.attributes; }
  Tensor input(int i) const override { return find(Saved::input, i); }
  Tensor output(int i) const override { return find(Saved::output, i); }
  Tensor upstream(int i) const override { return upstream_[i]; }
  bool needs(int i) const override { return i < int(node_.edges.size()) && node_.edges[i].needed(); }
  const TensorSpec& input_spec(int i) const override { return node_.input_specs[i]; }
  const TensorSpec& output_spec(int i) const override { return node_.output_specs[i]; }

 private:
  Tensor find(Saved::Kind kind, int index) const {
    for (size_t k = 0; k < node_.op.saves.size(); ++k) {
      if (node_.op.saves[k].kind != kind || node_.op.saves[k].index != index) continue;
      const SavedTensor& entry = node_.saved[k];
      require<AutogradError>(
          !entry.tensor.defined() || entry.tensor.handle()->storage->version() == entry.version,
          "{}: a tensor saved for its gradient was modified in place afterwards", node_.op.name);
      return entry.tensor;
    }
    throw AutogradError(
        fmt::format("{}: its gradient asks for a tensor that it does not save", node_.op.name));
  }

  const Node& node_;
  const std::vector<Tensor>& upstream_;
};

/// The gradient itself when nothing else refers to its elements and they lie without gaps, else a copy: what
/// a leaf holds is its own, so that updating it in place is safe. A recording holds all its tensors, so there
/// the question is whether `earlier` leaves of this pass share the storage, or the caller does.
Tensor sole(const Tensor& gradient, const std::vector<Storage*>& earlier) {
  Storage* storage = gradient.handle()->storage.get();
  bool alone = storage->is_symbolic() ? std::find(earlier.begin(), earlier.end(), storage) == earlier.end()
                                      : gradient.handle()->use_count() == 1 && storage->use_count() == 1;
  return alone && is_dense(gradient.shape(), gradient.strides()) ? gradient : registry().clone(gradient);
}

Tensor add_gradients(const Tensor& a, const Tensor& b) {
  return a.defined() ? registry().accumulate(a, b) : b;
}

/// One backward pass: gradients wait at their node until every later node has been visited.
class BackwardPass {
 public:
  /// `upstream` stays the caller's: no leaf may take it over.
  BackwardPass(bool retain_graph, const Tensor& upstream) : retain_graph_(retain_graph) {
    if (upstream.defined()) given_.push_back(upstream.handle()->storage.get());
  }

  void send(const Edge& edge, const Tensor& gradient) {
    if (edge.leaf) return send_to_leaf(static_cast<GradientState*>(edge.leaf.get()), edge.leaf, gradient);
    auto [entry, is_new] = waiting_.try_emplace(edge.node.get());
    if (is_new) {
      entry->second.resize(edge.node->output_specs.size());
      queue_.push(edge.node);
    }
    Tensor& slot = entry->second[edge.output_index];
    slot = add_gradients(slot, gradient);
  }

  void run() {
    while (!queue_.empty()) {
      IntrusivePtr<Node> node = queue_.top();
      queue_.pop();
      auto upstream = std::move(waiting_.extract(node.get()).mapped());
      visit(*node, upstream);
    }
  }

  void call_hooks() {
    for (auto& leaf : leaves_) {
      auto* state = static_cast<GradientState*>(leaf.get());
      for (auto& hook : std::vector(state->hooks)) hook(gradient_slot(*state));
    }
  }

 private:
  struct Older {
    bool operator()(const IntrusivePtr<Node>& a, const IntrusivePtr<Node>& b) const {
      return a->sequence < b->sequence;
    }
  };

  void send_to_leaf(GradientState* state, const IntrusivePtr<AutogradState>& keep, const Tensor& gradient) {
    Tensor& slot = gradient_slot(*state);
    slot = slot.defined() ? add_gradients(slot, gradient) : sole(gradient, given_);
    given_.push_back(slot.handle()->storage.get());
    if (std::find(leaves_.begin(), leaves_.end(), keep) == leaves_.end()) leaves_.push_back(keep);
  }

  void visit(Node& node, const std::vector<Tensor>& upstream) {
    require<AutogradError>(
        !node.freed,
        "backward() reached {} a second time, but its saved tensors were freed by the first; pass "
        "retain_graph = true to the first call",
        node.op.name);
    auto gradients = node.op.gradient(NodeContext(node, upstream));
    for (size_t i = 0; i < node.edges.size(); ++i) {
      if (!node.edges[i].needed() || i >= gradients.size() || !gradients[i].defined()) continue;
      require<AutogradError>(gradients[i].shape() == node.input_specs[i].shape,
                             "{}: the gradient of input {} has shape {}, the input {}", node.op.name, i,
                             gradients[i].shape(), node.input_specs[i].shape);
      require<AutogradError>(gradients[i].dtype() == node.input_specs[i].dtype,
                             "{}: the gradient of input {} is {}, the input {}", node.op.name, i,
                             name_of(gradients[i].dtype()), name_of(node.input_specs[i].dtype));
      send(node.edges[i], gradients[i]);
    }
    if (retain_graph_) return;
    node.saved.clear();
    node.freed = true;
  }

  bool retain_graph_;
  std::unordered_map<Node*, std::vector<Tensor>> waiting_;
  std::priority_queue<IntrusivePtr<Node>, std::vector<IntrusivePtr<Node>>, Older> queue_;
  std::vector<IntrusivePtr<AutogradState>> leaves_;  ///< in the order in which their gradients arrived
  std::vector<Storage*> given_;                      ///< what leaves hold, and the caller's upstream
};

Tensor one_like(const Tensor& tensor) {
  return with_floating_type(tensor.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    return Tensor::from(std::vector<T>{T(1.0f)}, tensor.shape(), tensor.device());
  });
}

}  // namespace

bool gradient_mode() { return gradient_mode_on; }
NoGrad::NoGrad() : before_(gradient_mode_on) { gradient_mode_on = false; }
NoGrad::~NoGrad() { gradient_mode_on = before_; }

void record_node(const Op& op, const std::vector<Tensor>& inputs, std::vector<Tensor>& outputs,
                 const Attributes& attributes) {
  bool required = std::any_of(inputs.begin(), inputs.end(),
                              [](const Tensor& input) { return input.defined() && input.requires_grad(); });
  if (!required || !op.gradient) return;
  auto node = make_intrusive<Node>(op, inputs, outputs, attributes);
  for (int i = 0; i < int(outputs.size()); ++i) {
    bool skip = std::count(op.not_differentiable.begin(), op.not_differentiable.end(), i) > 0;
    if (skip || !is_floating(outputs[i].dtype())) continue;
    GradientState& state = ensure_state(outputs[i]);
    state.requires_grad = true;
    state.node = node;
    state.output_index = i;
  }
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

void Tensor::backward(const Tensor& upstream, bool retain_graph) const {
  existing("backward");
  GradientState* state = state_of(*this);
  require<AutogradError>(state && state->requires_grad,
                         "backward() needs a tensor that depends on one that requires a gradient");
  require<ShapeError>(upstream.defined() || numel() == 1,
                      "backward() without upstream needs one element, the tensor has shape {}", shape());
  require<ShapeError>(!upstream.defined() || upstream.shape() == shape(),
                      "backward(): upstream has shape {}, the tensor {}",
                      upstream.defined() ? upstream.shape() : shape(), shape());
  require<DTypeError>(!upstream.defined() || upstream.dtype() == dtype(),
                      "backward(): upstream is {}, the tensor {}",
                      name_of(upstream.defined() ? upstream.dtype() : dtype()), name_of(dtype()));
  require<DeviceError>(!upstream.defined() || upstream.device() == device(),
                       "backward(): upstream is on {}, the tensor on {}",
                       upstream.defined() ? upstream.device() : device(), device());
  NoGrad no_grad;
  Recording* current = recording();
  if (current) current->begin_backward(*this, upstream, retain_graph);
  BackwardPass pass(retain_graph, upstream);
  Edge start = state->node ? Edge{state->node, state->output_index, {}} : Edge{{}, 0, handle()->autograd};
  pass.send(start, upstream.defined() ? upstream : current ? current->ones_like(*this) : one_like(*this));
  FloatingPointScope scope(Subnormals::keep);  // containers compute too
  pass.run();
  if (current) current->end_backward();
  if (!current || current->calls_hooks()) pass.call_hooks();
}

}  // namespace treadle
