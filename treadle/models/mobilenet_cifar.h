/// A small MobileNet, for images of 32×32.
#pragma once  // public

#include "treadle/models/model.h"
#include "treadle/nn/linear.h"
#include "treadle/nn/sequential.h"

namespace treadle {

/// [N,C,H,W] → features: a 3×3 convolution to 32 channels, then depthwise separable ones to 64, 128, 128, 256
/// and 256 (a 3×3 convolution of each channel by itself, then a 1×1 one), the second and fourth with stride
/// 2, batch norm and ReLU behind each convolution; classifier: the mean over all places, 256→K. After Howard
/// et al., MobileNets, 2017. For CIFAR-10 where nothing else is said, 136,778 parameters.
class TREADLE_API MobilenetCifar final : public Module {
 public:
  explicit MobilenetCifar(Generator& generator = default_generator());
  /// For images of any size. Throws ShapeError for examples that are no images.
  explicit MobilenetCifar(const ModelTask& task, Generator& generator = default_generator());
  std::string describe() const override { return "MobilenetCifar"; }

 protected:
  Tensor forward(const Tensor& x) override;

 private:
  std::shared_ptr<Sequential> features_;
  std::shared_ptr<Linear> classifier_;
};

}  // namespace treadle
