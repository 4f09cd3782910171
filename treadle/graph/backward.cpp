/// backward() and grad(): passes over the nodes, newest first.
#include <algorithm>
#include <map>
#include <queue>
#include <unordered_map>
#include <unordered_set>

#include "treadle/core/error.h"
#include "treadle/core/floating_point.h"
#include "treadle/graph/autograd.h"
#include "treadle/graph/autograd_node.h"
#include "treadle/graph/recording.h"
#include "treadle/graph/registry.h"

namespace treadle {
namespace {

class NodeContext final : public GradientContext {
 public:
  NodeContext(Node& node, const std::vector<Tensor>& upstream, std::vector<bool> needs)
      : node_(node), upstream_(upstream), needs_(std::move(needs)) {}

  const Attributes& attributes() const override { return node_.attributes; }
  Tensor input(int i) const override { return find(Saved::input, i); }
  Tensor output(int i) const override { return find(Saved::output, i); }
  Tensor upstream(int i) const override { return upstream_[i]; }
  bool needs(int i) const override { return i < int(needs_.size()) && needs_[size_t(i)]; }
  const TensorSpec& input_spec(int i) const override {
    static const TensorSpec left_out = TensorSpec::of(Tensor());
    return i < int(node_.input_specs.size()) ? node_.input_specs[size_t(i)] : left_out;
  }
  const TensorSpec& output_spec(int i) const override { return node_.output_specs[i]; }

 private:
  Tensor find(Saved::Kind kind, int index) const {
    for (size_t k = 0; k < node_.op.saves.size(); ++k) {
      if (node_.op.saves[k].kind != kind || node_.op.saves[k].index != index) continue;
      const SavedTensor& entry = node_.saved[k];
      require<AutogradError>(
          !entry.tensor.defined() || entry.tensor.handle()->storage->version() == entry.version,
          "{}: a tensor saved for its gradient was modified in place afterwards", node_.op.name);
      return gradient_mode() && entry.tensor.defined() ? at_its_place(entry.tensor, kind, index)
                                                       : entry.tensor;
    }
    throw AutogradError(
        fmt::format("{}: its gradient asks for a tensor that it does not save", node_.op.name));
  }

  /// The saved tensor with the history it was saved without.
  Tensor at_its_place(const Tensor& saved, Saved::Kind kind, int index) const {
    const bool is_input = kind == Saved::input;
    const Edge edge = is_input ? node_.edges[size_t(index)] : Edge{IntrusivePtr<Node>(&node_), index, {}};
    if (edge.leaf) return as_leaf(saved, edge.leaf);
    if (!edge.node || !(is_input || carries_gradient(node_.op, index, saved.dtype()))) return saved;
    const Tensor placed = saved.detach();
    set_place(placed, edge.node, edge.output_index);
    return placed;
  }

  Node& node_;
  const std::vector<Tensor>& upstream_;
  std::vector<bool> needs_;
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

/// The places whose gradients grad() was asked for, and the nodes that lie between them and where it starts.
class SoughtGradients {
 public:
  SoughtGradients(const std::vector<Tensor>& inputs, const std::vector<Edge>& starts) {
    for (const Tensor& input : inputs) found_.try_emplace(GraphPlace::of(input.handle()->autograd));
    find_ways(starts);
  }

  bool is_sought(const Edge& edge) const { return found_.count(edge.place()) > 0; }
  bool leads_on(const Node* node) const { return leading_.count(node) > 0; }
  bool needs(const Edge& edge) const {
    return edge.needed() && (is_sought(edge) || leads_on(edge.node.get()));
  }

  void found(const GraphPlace& place, const Tensor& gradient) {
    auto entry = found_.find(place);
    if (entry != found_.end() && gradient.defined()) entry->second = add_gradients(entry->second, gradient);
  }
  const Tensor& gradient_of(const Tensor& input) const {
    return found_.at(GraphPlace::of(input.handle()->autograd));
  }

 private:
  /// A node's edges lead to older nodes alone, so the oldest are decided first.
  void find_ways(const std::vector<Edge>& starts) {
    std::map<uint64_t, const Node*> reached;
    std::vector<const Node*> open;
    auto reach = [&](const Edge& edge) {
      if (edge.node && reached.emplace(edge.node->sequence, edge.node.get()).second)
        open.push_back(edge.node.get());
    };
    for (const Edge& start : starts) reach(start);
    while (!open.empty()) {
      const Node* node = open.back();
      open.pop_back();
      for (const Edge& edge : node->edges) reach(edge);
    }
    for (const auto& [sequence, node] : reached)
      if (std::any_of(node->edges.begin(), node->edges.end(), [&](const Edge& edge) { return needs(edge); }))
        leading_.insert(node);
  }

  std::map<GraphPlace, Tensor> found_;
  std::unordered_set<const Node*> leading_;
};

/// One backward pass: gradients wait at their node until every later node has been visited.
class BackwardPass {
 public:
  /// `upstream` stays the caller's: no leaf may take it over.
  BackwardPass(bool retain_graph, const Tensor& upstream) : retain_graph_(retain_graph) {
    if (upstream.defined()) given_.push_back(upstream.handle()->storage.get());
  }
  /// Leaves keep the gradients they have.
  BackwardPass(bool retain_graph, SoughtGradients& sought) : retain_graph_(retain_graph), sought_(&sought) {}

  void send(const Edge& edge, const Tensor& gradient) {
    if (sought_ && edge.leaf) return sought_->found(edge.place(), gradient);
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
      if (sought_)
        for (size_t i = 0; i < upstream.size(); ++i) sought_->found({node.get(), int(i)}, upstream[i]);
      if (!sought_ || sought_->leads_on(node.get())) visit(*node, upstream);
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
    require<AutogradError>(
        bool(node.op.gradient),
        "{} has no gradient, so gradients that it is a part of cannot be differentiated again", node.op.name);
    std::vector<bool> needs;
    for (const Edge& edge : node.edges) needs.push_back(sought_ ? sought_->needs(edge) : edge.needed());
    auto gradients = node.op.gradient(NodeContext(node, upstream, needs));
    for (size_t i = 0; i < node.edges.size(); ++i) {
      if (!needs[i] || i >= gradients.size() || !gradients[i].defined()) continue;
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
  SoughtGradients* sought_ = nullptr;
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

/// Throws unless gradients can begin at the tensor.
void require_start(const char* caller, const Tensor& root, const Tensor& upstream) {
  require<AutogradError>(root.requires_grad(),
                         "{} needs a tensor that depends on one that requires a gradient", caller);
  require<ShapeError>(upstream.defined() || root.numel() == 1,
                      "{} without upstream needs one element, the tensor has shape {}", caller, root.shape());
  if (!upstream.defined()) return;
  require<ShapeError>(upstream.shape() == root.shape(), "{}: upstream has shape {}, the tensor {}", caller,
                      upstream.shape(), root.shape());
  require<DTypeError>(upstream.dtype() == root.dtype(), "{}: upstream is {}, the tensor {}", caller,
                      name_of(upstream.dtype()), name_of(root.dtype()));
  require<DeviceError>(upstream.device() == root.device(), "{}: upstream is on {}, the tensor on {}", caller,
                       upstream.device(), root.device());
}

Edge edge_to_root(const Tensor& root) {
  const GradientState* state = state_of(root);
  return state->node ? Edge{state->node, state->output_index, {}} : Edge{{}, 0, root.handle()->autograd};
}

Tensor ones_at(const Tensor& root) {
  Recording* current = recording();
  return current ? current->ones_like(root) : one_like(root);
}

/// Does nothing; its result is another place in the graph.
const Op& identity() {
  static const Op& op = []() -> Op& {
    auto& identity = *new Op;
    identity.name = "identity";
    identity.infer = [](Specs inputs, const Attributes&) { return std::vector{inputs[0]}; };
    identity.direct = [](std::span<const Tensor> inputs, const Attributes&) {
      return std::vector{inputs[0].alias(inputs[0].shape(), inputs[0].strides())};
    };
    identity.gradient = [](const GradientContext& context) { return std::vector{context.upstream()}; };
    return identity;
  }();
  return op;
}

}  // namespace

Tensor place_in_graph(const Tensor& x) {
  require<DTypeError>(x.defined() && is_floating(x.dtype()),
                      "place_in_graph: the tensor is not a floating one");
  if (gradient_mode() && x.requires_grad()) return apply(identity(), {x})[0];
  return x.detach().set_requires_grad(true);
}

std::vector<Tensor> grad(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs,
                         const GradOptions& options) {
  require<ValueError>(options.upstream.empty() || options.upstream.size() == outputs.size(),
                      "grad(): {} upstream gradients are given for {} outputs", options.upstream.size(),
                      outputs.size());
  auto upstream = [&](size_t k) { return options.upstream.empty() ? Tensor() : options.upstream[k]; };
  std::vector<Edge> starts;
  for (size_t k = 0; k < outputs.size(); ++k) {
    require<ValueError>(outputs[k].defined(), "grad(): output {} is undefined", k + 1);
    require_start("grad()", outputs[k], upstream(k));
    starts.push_back(edge_to_root(outputs[k]));
  }
  for (size_t i = 0; i < inputs.size(); ++i)
    require<AutogradError>(inputs[i].requires_grad(), "grad(): input {} requires no gradient", i + 1);
  SoughtGradients sought(inputs, starts);
  const GraphCreation creation(options.create_graph);
  FloatingPointScope scope(Subnormals::keep);
  BackwardPass pass(options.retain_graph || options.create_graph, sought);
  for (size_t k = 0; k < outputs.size(); ++k) {
    const Tensor given = upstream(k);
    pass.send(starts[k], !given.defined()       ? ones_at(outputs[k])
                         : options.create_graph ? given
                                                : given.detach());
  }
  pass.run();
  std::vector<Tensor> gradients;
  for (size_t i = 0; i < inputs.size(); ++i) {
    gradients.push_back(sought.gradient_of(inputs[i]));
    require<AutogradError>(
        options.allow_unused || gradients[i].defined(),
        "grad(): no output depends on input {}, whose shape is {}; allow_unused = true gives "
        "it an undefined gradient",
        i + 1, inputs[i].shape());
  }
  return gradients;
}

std::vector<Tensor> gradient_through(
    const GradientContext& context, const std::vector<Tensor>& inputs,
    const std::function<std::vector<Tensor>(const std::vector<Tensor>&)>& formula) {
  const bool create_graph = gradient_mode();
  std::vector<Tensor> places = inputs, sought;
  for (size_t i = 0; i < inputs.size(); ++i)
    if (context.needs(int(i))) sought.push_back(places[i] = place_in_graph(inputs[i]));
  std::vector<Tensor> outputs, reached;
  GradOptions options{.create_graph = create_graph, .allow_unused = true};
  {
    const GraphCreation creation(true);
    outputs = formula(places);
  }
  for (size_t k = 0; k < outputs.size(); ++k)
    if (const Tensor upstream = context.upstream(int(k)); upstream.defined() && outputs[k].requires_grad())
      reached.push_back(outputs[k]), options.upstream.push_back(upstream);
  std::vector<Tensor> gradients(inputs.size());
  if (reached.empty()) return gradients;
  const auto found = grad(reached, sought, options);
  for (size_t i = 0, next = 0; i < inputs.size(); ++i)
    if (context.needs(int(i))) gradients[i] = found[next++];
  return gradients;
}

void Tensor::backward(const Tensor& upstream, bool retain_graph) const {
  existing("backward");
  require_start("backward()", *this, upstream);
  const GraphCreation creation(false);
  Recording* current = recording();
  if (current) current->begin_backward(*this, upstream, retain_graph);
  BackwardPass pass(retain_graph, upstream);
  pass.send(edge_to_root(*this), upstream.defined() ? upstream : ones_at(*this));
  FloatingPointScope scope(Subnormals::keep);  // containers compute too
  pass.run();
  if (current) current->end_backward();
  if (!current || current->calls_hooks()) pass.call_hooks();
}

}  // namespace treadle
