/// Transposed convolution layer.
#pragma once  // public

#include "treadle/core/random.h"
#include "treadle/nn/module.h"
#include "treadle/ops/conv2d/conv_transpose2d.h"

namespace treadle {

/// y = conv_transpose2d(x, weight, bias): x [N,K,P,Q] → y [N,C,H,W]; weight [K, C/groups, R, S], bias [C],
/// where K and C are the channels in and out. Both begin in U(-b, b), b = 1/√(C/groups·R·S), as PyTorch's.
/// Throws ShapeError.
class TREADLE_API ConvTranspose2d final : public Module {
 public:
  ConvTranspose2d(int64_t in_channels, int64_t out_channels, Pair kernel,
                  const ConvTranspose2dOptions& options = {}, bool bias = true,
                  Generator& generator = default_generator());
  std::string describe() const override;
  int64_t multiply_adds(std::span<const Shape> inputs, std::span<const Shape> outputs) const override;

  Tensor weight, bias;

 protected:
  Tensor forward(const Tensor& x) override;

 private:
  ConvTranspose2dOptions options_;
};

}  // namespace treadle
