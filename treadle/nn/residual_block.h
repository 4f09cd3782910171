/// The basic block of residual networks (He, Zhang, Ren and Sun, Deep Residual Learning, 2016).
#pragma once  // public

#include "treadle/nn/batch_norm.h"
#include "treadle/nn/conv2d.h"

namespace treadle {

struct ResidualBlockSettings {
  int64_t stride = 1;  ///< of the first convolution
  bool bias = false;   ///< whether the convolutions have one; batch normalisation takes it out again
  BatchNormSettings norm = {};
};

/// y = ReLU(bn2(conv2(ReLU(bn1(conv1(x))))) + shortcut(x)): x [N, in, H, W] → y [N, out, H/stride, W/stride],
/// of 3×3 convolutions. The shortcut is x itself, or, where stride or channels change, "downsample": a 1×1
/// convolution and batch normalisation. Children are called as in torchvision's BasicBlock.
class TREADLE_API ResidualBlock final : public Module {
 public:
  ResidualBlock(int64_t in_channels, int64_t out_channels, const ResidualBlockSettings& settings = {},
                Generator& generator = default_generator());
  std::string describe() const override;

 protected:
  Tensor forward(const Tensor& x) override;

 private:
  std::shared_ptr<Conv2d> conv1_, conv2_;
  std::shared_ptr<BatchNorm2d> bn1_, bn2_;
  std::shared_ptr<Module> downsample_;
};

}  // namespace treadle
