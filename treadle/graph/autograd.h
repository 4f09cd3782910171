/// Reverse-mode automatic differentiation, eager: apply() leaves nodes, backward() visits them, newest first.
///
/// Gradients accumulate in the leaves. There is no gradient of a gradient.
#pragma once  // public

#include <functional>
#include <vector>

#include "treadle/core/tensor.h"
#include "treadle/graph/attributes.h"

namespace treadle {

struct Op;

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

/// Calls `hook` with the leaf's gradient each time backward() has completed it.
TREADLE_API void register_gradient_hook(const Tensor& leaf, std::function<void(const Tensor&)> hook);

/// How many hooks the tensor has.
TREADLE_API size_t gradient_hooks(const Tensor& leaf);

/// The state of a leaf that requires a gradient; null for other tensors.
TREADLE_API IntrusivePtr<AutogradState> leaf_state(const Tensor& tensor);
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
