/// Two-dimensional convolution layer.
#pragma once  // public

#include "treadle/core/random.h"
#include "treadle/nn/module.h"
#include "treadle/ops/conv2d/conv2d.h"

namespace treadle {

/// y = conv2d(x, weight, bias): x [N,C,H,W] → y [N,K,P,Q]; weight [K, C/groups, R, S], bias [K].
class TREADLE_API Conv2d final : public Module {
 public:
  Conv2d(int64_t in_channels, int64_t out_channels, Pair kernel, const Conv2dOptions& options = {},
         bool bias = true, Generator& generator = default_generator());
  std::string describe() const override;
  int64_t multiply_adds(std::span<const Shape> inputs, std::span<const Shape> outputs) const override;

  Tensor weight, bias;

 protected:
  Tensor forward(const Tensor& x) override;

 private:
  Conv2dOptions options_;
};

}  // namespace treadle
