/// The convolutional network for Fashion-MNIST.
#pragma once  // public

#include "treadle/nn/activation.h"
#include "treadle/nn/conv2d.h"
#include "treadle/nn/flatten.h"
#include "treadle/nn/linear.h"
#include "treadle/nn/pooling.h"

namespace treadle {

/// [N,1,28,28] → conv 1→64 3×3, max-pool 2, ReLU, conv 64→128 3×3, max-pool 2, ReLU, 3200→256, ReLU, →10.
/// 896,522 parameters.
class TREADLE_API FashionCnn final : public Module {
 public:
  explicit FashionCnn(Generator& generator = default_generator());
  std::string describe() const override { return "FashionCnn"; }

 protected:
  Tensor forward(const Tensor& x) override;

 private:
  std::shared_ptr<Conv2d> conv1_, conv2_;
  std::shared_ptr<MaxPool2d> pool_;
  std::shared_ptr<ReLU> relu_;
  std::shared_ptr<Flatten> flatten_;
  std::shared_ptr<Linear> fc1_, fc2_;
};

}  // namespace treadle
