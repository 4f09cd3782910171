/// The residual network of 18 layers, for images of 32×32.
#pragma once  // public

#include "treadle/models/model.h"
#include "treadle/nn/residual_block.h"
#include "treadle/nn/sequential.h"

namespace treadle {

/// [N,C,H,W] → 3×3 convolution, batch norm, ReLU; two residual blocks each of 64, 128, 256 and 512 channels,
/// the first of the last three with stride 2; the mean over all places, 512→K. He, Zhang, Ren and Sun, Deep
/// Residual Learning, 2016, without the pooling in front that large images have. For CIFAR-10 where nothing
/// else is said, 11,173,962 parameters under torchvision's names.
class TREADLE_API Resnet18Cifar final : public Module {
 public:
  explicit Resnet18Cifar(Generator& generator = default_generator());
  /// For images of any size. Throws ShapeError for examples that are no images.
  explicit Resnet18Cifar(const ModelTask& task, Generator& generator = default_generator());
  std::string describe() const override { return "Resnet18Cifar"; }

 protected:
  Tensor forward(const Tensor& x) override;

 private:
  std::shared_ptr<Conv2d> conv1_;
  std::shared_ptr<BatchNorm2d> bn1_;
  std::vector<std::shared_ptr<Sequential>> stages_;
  std::shared_ptr<Module> fc_;
};

}  // namespace treadle
