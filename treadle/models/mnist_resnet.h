/// A small residual network for MNIST.
#pragma once  // public

#include "treadle/nn/flatten.h"
#include "treadle/nn/linear.h"
#include "treadle/nn/pooling.h"
#include "treadle/nn/residual_block.h"

namespace treadle {

/// [N,1,28,28] → conv 1→32 3×3, batch norm, ReLU → residual block (32) → max-pool 2 → conv 32→64 3×3, batch
/// norm, ReLU → residual block (64) → max-pool 2 → 3136→128, ReLU, →10. 514,570 parameters.
class TREADLE_API MnistResnet final : public Module {
 public:
  explicit MnistResnet(Generator& generator = default_generator());
  std::string describe() const override { return "MnistResnet"; }

 protected:
  Tensor forward(const Tensor& x) override;

 private:
  std::shared_ptr<Module> stem_, res1_, conv2_, res2_;
  std::shared_ptr<MaxPool2d> pool_;
  std::shared_ptr<Flatten> flatten_;
  std::shared_ptr<Linear> fc1_, fc2_;
};

}  // namespace treadle
