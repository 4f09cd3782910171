#include "treadle/nn/group_norm.h"

#include "treadle/core/error.h"
#include "treadle/ops/fill/fill.h"

namespace treadle {

GroupNorm::GroupNorm(int64_t groups, int64_t channels, double epsilon, bool affine)
    : channels_(channels), options_{groups, epsilon} {
  require<ShapeError>(groups > 0 && channels >= 0 && channels % groups == 0,
                      "GroupNorm: {} channels do not divide into {} groups", channels, groups);
  if (!affine) return;
  weight = register_parameter("weight", full({channels}, 1));
  bias = register_parameter("bias", Tensor::zeros({channels}));
}

Tensor GroupNorm::forward(const Tensor& x) { return group_norm(x, weight, bias, options_); }

std::string GroupNorm::describe() const {
  return fmt::format("GroupNorm({}, {}{})", options_.groups, channels_,
                     weight.defined() ? "" : ", not affine");
}

}  // namespace treadle
