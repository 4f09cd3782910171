/// A perceptron: one linear layer.
#pragma once  // public

#include "treadle/models/model.h"
#include "treadle/nn/linear.h"

namespace treadle {

/// [N,…] → flatten, D→K: a logit for each class, whose bounds are straight lines. For points of the plane and
/// two classes where nothing else is said, 6 parameters. Trained by cross-entropy it is logistic regression.
class TREADLE_API Perceptron final : public Module {
 public:
  explicit Perceptron(Generator& generator = default_generator());
  /// For examples of any shape. Throws ShapeError where it overflows, ValueError for no elements or classes.
  explicit Perceptron(const ModelTask& task, Generator& generator = default_generator());
  std::string describe() const override { return "Perceptron"; }

 protected:
  Tensor forward(const Tensor& x) override;

 private:
  std::shared_ptr<Linear> fc_;
};

}  // namespace treadle
