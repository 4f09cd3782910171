/// The graph that autograd keeps: what a tensor knows of it, and the nodes. For autograd.cpp and backward.cpp
/// alone.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "treadle/core/error.h"
#include "treadle/graph/autocast.h"
#include "treadle/graph/autograd.h"
#include "treadle/graph/op.h"

namespace treadle {

class Node;

/// What a tensor knows of the graph: its own gradient if it is a leaf, else the node that made it.
struct GradientState final : AutogradState {
  bool requires_grad = false;
  Tensor grad;
  IntrusivePtr<Node> node;
  int output_index = 0;
  std::vector<std::function<void(const Tensor&)>> hooks;
};

inline GradientState* state_of(const Tensor& tensor) {
  return tensor.defined() ? static_cast<GradientState*>(tensor.handle()->autograd.get()) : nullptr;
}

/// Where a leaf's gradient is kept: with the leaf, or with the recording in progress.
Tensor& gradient_slot(GradientState& state);

/// Makes the tensor an output of the node.
void set_place(const Tensor& tensor, const IntrusivePtr<Node>& node, int output_index);

/// Whether gradients flow back from output number i of the op.
bool carries_gradient(const Op& op, int i, DType dtype);

/// While one lives, ops of this thread leave nodes that can be differentiated again, or none. An op without a
/// gradient leaves one, too: it must not end the graph silently. They compute as if there were no Autocast.
class GraphCreation {
 public:
  explicit GraphCreation(bool on);
  ~GraphCreation();
  GraphCreation(const GraphCreation&) = delete;
  GraphCreation& operator=(const GraphCreation&) = delete;

 private:
  bool creates_before_, mode_before_;
  Autocast no_autocast_{DType::f32};
};

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
  GraphPlace place() const;
};

class Node final : public RefCounted {
 public:
  Node(const Op& op, const std::vector<Tensor>& inputs, const std::vector<Tensor>& outputs,
       const Attributes& attributes);
  /// Frees chains of nodes one after another: a long chain must not recurse.
  ~Node() override;

  const Op& op;
  Attributes attributes;
  uint64_t sequence;
  Device device;
  std::vector<Edge> edges;
  std::vector<TensorSpec> input_specs, output_specs;
  std::vector<SavedTensor> saved;
  bool freed = false;
};

}  // namespace treadle
