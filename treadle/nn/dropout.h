/// Dropout layers.
#pragma once  // public

#include "treadle/nn/module.h"

namespace treadle {

/// In training each element becomes 0 with a probability and the others grow by 1 / (1 - probability): see
/// dropout(). In evaluation, and for a probability of 0, y is x. Throws ValueError for a probability outside
/// [0, 1].
class TREADLE_API Dropout final : public Module {
 public:
  explicit Dropout(double probability = 0.5);
  std::string describe() const override;

 protected:
  Tensor forward(const Tensor& x) override;

 private:
  double probability_;
};

/// The same with whole channels of x [N, C, …]. Tompson, Goroshin, Jain, LeCun and Bregler, Efficient Object
/// Localization Using Convolutional Networks, 2015. Throws ShapeError for fewer axes.
class TREADLE_API Dropout2d final : public Module {
 public:
  explicit Dropout2d(double probability = 0.5);
  std::string describe() const override;

 protected:
  Tensor forward(const Tensor& x) override;

 private:
  double probability_;
};

}  // namespace treadle
