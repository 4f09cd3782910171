/// Activations as layers, under PyTorch's names.
#pragma once  // public

#include <functional>
#include <string>

#include "treadle/nn/module.h"
#include "treadle/ops/pointwise/pointwise.h"

namespace treadle {

/// A function of x without parameters, and what describe() says of it.
class TREADLE_API Activation : public Module {
 public:
  std::string describe() const override { return description_; }

 protected:
  using Function = std::function<Tensor(const Tensor&)>;
  Activation(std::string description, Function function)
      : description_(std::move(description)), function_(std::move(function)) {}
  Tensor forward(const Tensor& x) override { return function_(x); }

 private:
  std::string description_;
  Function function_;
};

/// y = max(x, 0).
struct TREADLE_API ReLU final : Activation {
  ReLU();
};
/// y = min(max(x, 0), 6).
struct TREADLE_API ReLU6 final : Activation {
  ReLU6();
};
/// y = x for x > 0, slope·x elsewhere.
struct TREADLE_API LeakyReLU final : Activation {
  explicit LeakyReLU(double slope = 0.01);
};
/// y = x for x > 0, alpha·(e^x - 1) elsewhere.
struct TREADLE_API ELU final : Activation {
  explicit ELU(double alpha = 1);
};
/// y = alpha·elu(x/alpha).
struct TREADLE_API CELU final : Activation {
  explicit CELU(double alpha = 1);
};
/// y = 1.0507·elu(x, 1.67326): ELU scaled so that means of 0 and variances of 1 stay.
struct TREADLE_API SELU final : Activation {
  SELU();
};
/// y = x·Φ(x), exactly.
struct TREADLE_API GELU final : Activation {
  GELU();
};
/// y = x / (1 + e^-x).
struct TREADLE_API SiLU final : Activation {
  SiLU();
};
/// y = x·tanh ln(1 + e^x).
struct TREADLE_API Mish final : Activation {
  Mish();
};
/// y = x min(max(x + 3, 0), 6) / 6.
struct TREADLE_API Hardswish final : Activation {
  Hardswish();
};
/// y = ln(1 + e^βx) / β.
struct TREADLE_API Softplus final : Activation {
  explicit Softplus(double beta = 1);
};
/// y = 1 / (1 + e^-x).
struct TREADLE_API Sigmoid final : Activation {
  Sigmoid();
};
/// y = -ln(1 + e^-x).
struct TREADLE_API LogSigmoid final : Activation {
  LogSigmoid();
};
/// The hyperbolic tangent.
struct TREADLE_API Tanh final : Activation {
  Tanh();
};
/// y = min(max(x, low), high).
struct TREADLE_API Hardtanh final : Activation {
  explicit Hardtanh(double low = -1, double high = 1);
};
/// y = e^x / Σ e^x along an axis, negative from the end.
struct TREADLE_API Softmax final : Activation {
  explicit Softmax(int64_t axis);
};
/// The logarithm of Softmax.
struct TREADLE_API LogSoftmax final : Activation {
  explicit LogSoftmax(int64_t axis);
};

/// y = x for x > 0, weight[c]·x elsewhere: x [N, C, …]; weight [slopes], one for each channel or for all.
class TREADLE_API PReLU final : public Module {
 public:
  /// Throws ShapeError unless `slopes` is positive.
  explicit PReLU(int64_t slopes = 1, double first = 0.25);
  std::string describe() const override;

  Tensor weight;

 protected:
  Tensor forward(const Tensor& x) override { return prelu(x, weight); }
};

}  // namespace treadle
