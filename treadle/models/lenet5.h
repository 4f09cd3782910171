/// LeNet-5 with ReLU and max-pooling. After LeCun et al., Gradient-Based Learning Applied to Document
/// Recognition, 1998.
#pragma once  // public

#include "treadle/nn/activation.h"
#include "treadle/nn/conv2d.h"
#include "treadle/nn/flatten.h"
#include "treadle/nn/linear.h"
#include "treadle/nn/pooling.h"

namespace treadle {

/// [N,1,28,28] → conv 1→6 5×5 pad 2, ReLU, max-pool 2, conv 6→16 5×5, ReLU, max-pool 2, 400→120, ReLU, →84,
/// ReLU, →10. 61,706 parameters.
class TREADLE_API Lenet5 final : public Module {
 public:
  explicit Lenet5(Generator& generator = default_generator());
  std::string describe() const override { return "Lenet5"; }

 protected:
  Tensor forward(const Tensor& x) override;

 private:
  std::shared_ptr<Conv2d> conv1_, conv2_;
  std::shared_ptr<MaxPool2d> pool_;
  std::shared_ptr<ReLU> relu_;
  std::shared_ptr<Flatten> flatten_;
  std::shared_ptr<Linear> fc1_, fc2_, fc3_;
};

}  // namespace treadle
