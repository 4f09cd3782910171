/// A perceptron with one hidden layer.
#pragma once  // public

#include "treadle/models/model.h"
#include "treadle/nn/activation.h"
#include "treadle/nn/flatten.h"
#include "treadle/nn/linear.h"

namespace treadle {

/// [N,…] → flatten, D→128, ReLU, 128→K. For images of 28×28 and ten classes, 784→128→10, which is what it is
/// made for where nothing else is said, 101,770 parameters.
class TREADLE_API Mlp final : public Module {
 public:
  explicit Mlp(Generator& generator = default_generator());
  /// For examples of any shape. Throws ShapeError where it overflows, ValueError for no elements or classes.
  explicit Mlp(const ModelTask& task, Generator& generator = default_generator());
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
