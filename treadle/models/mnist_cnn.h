/// A small convolutional network for MNIST.
#pragma once  // public

#include "treadle/nn/activation.h"
#include "treadle/nn/conv2d.h"
#include "treadle/nn/flatten.h"
#include "treadle/nn/linear.h"
#include "treadle/nn/pooling.h"

namespace treadle {

/// [N,1,28,28] → conv 1→16 5×5, max-pool 2, ReLU, conv 16→32 5×5, max-pool 2, ReLU, 512→10. 18,378
/// parameters.
class TREADLE_API MnistCnn final : public Module {
 public:
  explicit MnistCnn(Generator& generator = default_generator());
  std::string describe() const override { return "MnistCnn"; }

 protected:
  Tensor forward(const Tensor& x) override;

 private:
  std::shared_ptr<Conv2d> conv1_, conv2_;
  std::shared_ptr<MaxPool2d> pool_;
  std::shared_ptr<ReLU> relu_;
  std::shared_ptr<Flatten> flatten_;
  std::shared_ptr<Linear> fc_;
};

}  // namespace treadle
