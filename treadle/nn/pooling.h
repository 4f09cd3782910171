/// Pooling layers.
#pragma once  // public

#include "treadle/nn/module.h"
#include "treadle/ops/pool2d/avg_pool2d.h"
#include "treadle/ops/pool2d/max_pool2d.h"

namespace treadle {

/// Largest value of each window; stride defaults to the window. With `ceil_mode` a last window may reach
/// beyond the padding: see ceil_padding().
class TREADLE_API MaxPool2d final : public Module {
 public:
  explicit MaxPool2d(Pair kernel);
  explicit MaxPool2d(const MaxPool2dOptions& options, bool ceil_mode = false)
      : options_(options), ceil_mode_(ceil_mode) {}
  std::string describe() const override;

 protected:
  Tensor forward(const Tensor& x) override;

 private:
  MaxPool2dOptions options_;
  bool ceil_mode_ = false;
};

/// Mean of each window; stride defaults to the window. With `ceil_mode` a last window may reach beyond the
/// padding: see ceil_padding().
class TREADLE_API AvgPool2d final : public Module {
 public:
  explicit AvgPool2d(Pair kernel);
  explicit AvgPool2d(const AvgPool2dOptions& options, bool ceil_mode = false)
      : options_(options), ceil_mode_(ceil_mode) {}
  std::string describe() const override;

 protected:
  Tensor forward(const Tensor& x) override;

 private:
  AvgPool2dOptions options_;
  bool ceil_mode_ = false;
};

/// adaptive_avg_pool2d: x [N,C,H,W] → [N,C,P,Q] for a size P×Q.
class TREADLE_API AdaptiveAvgPool2d final : public Module {
 public:
  explicit AdaptiveAvgPool2d(Pair size) : size_(size) {}
  std::string describe() const override;

 protected:
  Tensor forward(const Tensor& x) override;

 private:
  Pair size_;
};

/// adaptive_max_pool2d: x [N,C,H,W] → [N,C,P,Q] for a size P×Q.
class TREADLE_API AdaptiveMaxPool2d final : public Module {
 public:
  explicit AdaptiveMaxPool2d(Pair size) : size_(size) {}
  std::string describe() const override;

 protected:
  Tensor forward(const Tensor& x) override;

 private:
  Pair size_;
};

/// The mean over all places of each channel: x [N,C,H,W] → [N,C].
class TREADLE_API GlobalAvgPool2d final : public Module {
 public:
  std::string describe() const override { return "GlobalAvgPool2d"; }

 protected:
  Tensor forward(const Tensor& x) override;
};

}  // namespace treadle
