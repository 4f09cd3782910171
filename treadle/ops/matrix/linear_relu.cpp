#include "treadle/core/error.h"
#include "treadle/ops/matrix/linear.h"
#include "treadle/ops/pointwise/with_relu.h"

namespace treadle {
namespace {

struct Linear {
  static constexpr const char* kName = "linear";
};

}  // namespace

namespace ops {

void register_linear_relu(Registry& registry) {
  with_relu::add<Linear>(registry, "linear_relu", "y[n,o] = max(Σ_i x[n,i] · w[o,i] + b[o], 0)", nullptr);
}

}  // namespace ops

Tensor linear_relu(const Tensor& x, const Tensor& w, const Tensor& b) {
  static const Op& op = op_named("linear_relu");
  return apply(op, {x, w, b})[0];
}

}  // namespace treadle
