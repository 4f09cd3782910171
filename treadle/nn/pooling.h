/// Pooling layers.
#pragma once  // public

#include "treadle/nn/module.h"
#include "treadle/ops/pool2d/avg_pool2d.h"
#include "treadle/ops/pool2d/max_pool2d.h"

namespace treadle {

/// Largest value of each window; stride defaults to the window.
class TREADLE_API MaxPool2d final : public Module {
 public:
  explicit MaxPool2d(Pair kernel);
  explicit MaxPool2d(const MaxPool2dOptions& options) : options_(options) {}
  std::string describe() const override;

 protected:
  Tensor forward(const Tensor& x) override { return max_pool2d(x, options_); }

 private:
  MaxPool2dOptions options_;
};

/// Mean of each window; stride defaults to the window.
class TREADLE_API AvgPool2d final : public Module {
 public:
  explicit AvgPool2d(Pair kernel);
  explicit AvgPool2d(const AvgPool2dOptions& options) : options_(options) {}
  std::string describe() const override;

 protected:
  Tensor forward(const Tensor& x) override { return avg_pool2d(x, options_); }

 private:
  AvgPool2dOptions options_;
};

}  // namespace treadle
