/// A small VGG with batch norm, for images of 32×32.
#pragma once  // public

#include "treadle/models/model.h"
#include "treadle/nn/linear.h"
#include "treadle/nn/sequential.h"

namespace treadle {

/// [N,C,H,W] → features: twice 3×3 convolutions, batch norm and ReLU with 64, 128 and 256 channels, max-pool
/// 2 behind each pair; classifier: the mean over all places, 256→K. After Simonyan and Zisserman, Very Deep
/// Convolutional Networks, 2015. For CIFAR-10 where nothing else is said, 1,149,770 parameters.
class TREADLE_API VggSmall final : public Module {
 public:
  explicit VggSmall(Generator& generator = default_generator());
  /// For images of at least 8×8. Throws ShapeError for others.
  explicit VggSmall(const ModelTask& task, Generator& generator = default_generator());
  std::string describe() const override { return "VggSmall"; }

 protected:
  Tensor forward(const Tensor& x) override;

 private:
  std::shared_ptr<Sequential> features_;
  std::shared_ptr<Linear> classifier_;
};

}  // namespace treadle
