/// Group normalisation.
#pragma once  // public

#include "treadle/nn/module.h"
#include "treadle/ops/norm/group_norm.h"

namespace treadle {

/// Each image's elements in each of `groups` groups of channels brought to mean 0 and variance 1, x [N, C,
/// …], then · weight + bias: both [channels], 1 and 0 at first, or left out where it is not affine. Throws
/// ShapeError where the groups do not divide the channels.
class TREADLE_API GroupNorm final : public Module {
 public:
  GroupNorm(int64_t groups, int64_t channels, double epsilon = 1e-5, bool affine = true);
  std::string describe() const override;

  Tensor weight, bias;

 protected:
  Tensor forward(const Tensor& x) override;

 private:
  int64_t channels_;
  GroupNormOptions options_;
};

}  // namespace treadle
