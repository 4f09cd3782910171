/// Reverse-mode automatic differentiation, eager: apply() leaves nodes, backward() and grad() visit them,
/// newest first.
///
/// backward() accumulates gradients in the leaves. grad() returns them, and with `create_graph` they are made
/// of differentiable ops themselves: the gradient of an op is ops, and so is theirs.
#pragma once  // public

#include <compare>
#include <functional>
#include <vector>

#include "treadle/core/tensor.h"
#include "treadle/graph/attributes.h"

namespace treadle {

struct Op;
class GradientContext;

/// Whether ops leave nodes in this thread.
TREADLE_API bool gradient_mode();

/// While one lives, ops of this thread leave no nodes.
class TREADLE_API NoGrad {
 public:
  NoGrad();
  ~NoGrad();
  NoGrad(const NoGrad&) = delete;
  NoGrad& operator=(const NoGrad&) = delete;

 private:
  bool before_;
};

/// While one lives, ops of this thread leave nodes.
class TREADLE_API EnableGrad {
 public:
  EnableGrad();
  ~EnableGrad();
  EnableGrad(const EnableGrad&) = delete;
  EnableGrad& operator=(const EnableGrad&) = delete;

 private:
  bool before_;
};

struct GradOptions {
  /// Gradients of the outputs, each of its output's shape, dtype and device; ones where they are left out,
  /// which only outputs of one element may be.
  std::vector<Tensor> upstream = {};
  /// Whether the gradients can be differentiated again.
  bool create_graph = false;
  /// Whether the graph can be gone through again; it always can where `create_graph` is set.
  bool retain_graph = false;
  /// Whether an input that no output depends on has an undefined gradient, instead of being refused.
  bool allow_unused = false;
};

/// The gradients of Σ_k upstream[k]·outputs[k] with respect to `inputs`: any tensors that the outputs were
/// computed from, leaves or not, each of its input's shape and dtype. No leaf's grad() changes, no hook is
/// called, and what leads to no input is not computed. A gradient may share its elements with `upstream`.
/// Throws AutogradError for an output or input that requires no gradient, for one that is not used, for a
/// graph that was freed and, where they are differentiated again, for an op whose gradient has none;
/// ShapeError, DTypeError and DeviceError for an upstream gradient that does not fit its output.
TREADLE_API std::vector<Tensor> grad(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs,
                                     const GradOptions& options = {});

/// The tensor behind an op that changes nothing and lets gradients through: a place of its own in the graph,
/// so that grad() can tell it from `x`. Outside of gradient mode, and where x requires no gradient, a leaf.
TREADLE_API Tensor place_in_graph(const Tensor& x);

/// For Op::gradient of ops whose gradient other ops describe, too, such as fused gradients: the gradients of
/// the inputs of `formula`, which makes the op's outputs of them; input i is operand i of the op. It is
/// differentiated where the gradient is asked for, and can be again where that is.
TREADLE_API std::vector<Tensor> gradient_through(
    const GradientContext& context, const std::vector<Tensor>& inputs,
    const std::function<std::vector<Tensor>(const std::vector<Tensor>&)>& formula);

/// Calls `hook` with the leaf's gradient each time backward() has completed it.
TREADLE_API void register_gradient_hook(const Tensor& leaf, std::function<void(const Tensor&)> hook);

/// How many hooks the tensor has.
TREADLE_API size_t gradient_hooks(const Tensor& leaf);

/// The state of a leaf that requires a gradient; null for other tensors.
TREADLE_API IntrusivePtr<AutogradState> leaf_state(const Tensor& tensor);
/// Whether two states are the same place in the graph: those of one leaf, or of one output of one call.
struct TREADLE_API GraphPlace {
  const void* made_by = nullptr;  ///< the call, or the state of a leaf
  int output = 0;

  static GraphPlace of(const IntrusivePtr<AutogradState>& state);
  friend auto operator<=>(const GraphPlace&, const GraphPlace&) = default;
};
/// The same elements as the leaf that `state` belongs to.
TREADLE_API Tensor as_leaf(const Tensor& tensor, const IntrusivePtr<AutogradState>& state);
/// Gives a leaf its gradient.
TREADLE_API void set_leaf_gradient(const IntrusivePtr<AutogradState>& state, const Tensor& gradient);
/// The gradient a leaf has, also while a recording keeps its own.
TREADLE_API const Tensor& leaf_gradient(const IntrusivePtr<AutogradState>& state);

/// Used by apply(): connects outputs to inputs when one of them requires a gradient.
void record_node(const Op& op, const std::vector<Tensor>& inputs, std::vector<Tensor>& outputs,
                 const Attributes& attributes);

}  // namespace treadle
