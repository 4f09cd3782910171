/// A perceptron with one hidden layer.
#pragma once  // public

#include "treadle/nn/activation.h"
#include "treadle/nn/flatten.h"
#include "treadle/nn/linear.h"

namespace treadle {

/// [N,1,28,28] → flatten, 784→128, ReLU, 128→10. 101,770 parameters.
class TREADLE_API Mlp final : public Module {
 public:
  explicit Mlp(Generator& generator = default_generator());
  std::string describe() const override { return "Mlp"; }

 protected:
  Tensor forward(const Tensor& x) override;

 private:
  std::shared_ptr<Flatten> flatten_;
  std::shared_ptr<Linear> fc1_;
  std::shared_ptr<ReLU> relu_;
  std::shared_ptr<Linear> fc2_;
};

}  // namespace treadle
