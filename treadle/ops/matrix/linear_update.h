/// The gradient of a linear layer's parameters and their update by a rule, in one op: "linear_adam_update".
#pragma once  // public

#include <vector>

#include "treadle/graph/apply.h"
#include "treadle/graph/registry.h"
#include "treadle/ops/update/rule.h"

namespace treadle {

template <class Rule>
const Op& linear_update_op() {
  static const Op& op = op_named(name_of_linear_update<Rule>());
  return op;
}

/// In place, without a gradient in memory: dw = dyᵀ·x and db = Σ_n dy, then the rule's step. x [N, in], dy
/// [N, out]; `w` is the weight [out, in] and what the rule keeps of it, in the order of its slots, `b` the
/// bias [out] and what it keeps of that, or nothing; all of one floating dtype. `numbers` is a f64 tensor [2]
/// on the same device, learning rate and step from 1. Throws ShapeError, DTypeError, and ValueError for
/// options that another rule serves.
///
/// In f32 the cpu's variants "panels" and "listed" give the bits of linear_weight_gradient's variant of that
/// name followed by the rule's update; but where nothing is kept and x has zeros, "listed" leaves parameters
/// whose gradient and decay are 0 as they are. Others differ from the two steps: gradients of half types are
/// not rounded before they are used, and the compiler may contract a product and a sum.
template <class Rule>
void linear_update(const Tensor& x, const Tensor& dy, const Tensor& numbers, const std::vector<Tensor>& w,
                   const std::vector<Tensor>& b = {}, const typename Rule::Options& options = {}) {
  std::vector<Tensor> operands{x, dy, numbers};
  operands.insert(operands.end(), w.begin(), w.end());
  operands.insert(operands.end(), b.begin(), b.end());
  apply_in_place(linear_update_op<Rule>(), std::move(operands), Attributes::of(options));
}

}  // namespace treadle
