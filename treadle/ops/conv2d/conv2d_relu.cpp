#include "treadle/ops/conv2d/conv2d_relu.h"

#include "treadle/ops/conv2d/conv2d.h"
#include "treadle/ops/pointwise/with_relu.h"

namespace treadle {
namespace ops {

void register_conv2d_relu(Registry& registry) {
  with_relu::add(registry, "conv2d_relu", "y = max(conv2d(x, w, b), 0)", conv2d_op,
                 &schema_of<Conv2dOptions>());
}

}  // namespace ops

const Op& conv2d_relu_op() {
  static const Op& op = op_named("conv2d_relu");
  return op;
}

Tensor conv2d_relu(const Tensor& x, const Tensor& w, const Tensor& b, const Conv2dOptions& options) {
  return apply(conv2d_relu_op(), {x, w, b}, Attributes::of(options))[0];
}

}  // namespace treadle
