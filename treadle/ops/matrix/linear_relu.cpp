#include "treadle/core/error.h"
#include "treadle/ops/matrix/linear.h"
#include "treadle/ops/pointwise/with_relu.h"

namespace treadle {
namespace ops {

void register_linear_relu(Registry& registry) {
  with_relu::add(registry, "linear_relu", "y[n,o] = max(Σ_i x[n,i] · w[o,i] + b[o], 0)", linear_op, nullptr);
}

}  // namespace ops

Tensor linear_relu(const Tensor& x, const Tensor& w, const Tensor& b) {
  static const Op& op = op_named("linear_relu");
  return apply(op, {x, w, b})[0];
}

}  // namespace treadle
