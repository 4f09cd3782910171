/// Layers that put places around images: x [N,C,H,W] → [N,C,H + top + bottom,W + left + right].
#pragma once  // public

#include "treadle/core/geometry.h"
#include "treadle/nn/module.h"

namespace treadle {

/// Places of one value.
class TREADLE_API ConstantPad2d final : public Module {
 public:
  explicit ConstantPad2d(const Pads& padding, double value = 0) : padding_(padding), value_(value) {}
  std::string describe() const override;

 protected:
  Tensor forward(const Tensor& x) override;

 private:
  Pads padding_;
  double value_;
};

/// The image mirrored at its edges, which are not repeated: pad_reflect().
class TREADLE_API ReflectionPad2d final : public Module {
 public:
  explicit ReflectionPad2d(const Pads& padding) : padding_(padding) {}
  std::string describe() const override;

 protected:
  Tensor forward(const Tensor& x) override;

 private:
  Pads padding_;
};

/// The image's edges repeated: pad_replicate().
class TREADLE_API ReplicationPad2d final : public Module {
 public:
  explicit ReplicationPad2d(const Pads& padding) : padding_(padding) {}
  std::string describe() const override;

 protected:
  Tensor forward(const Tensor& x) override;

 private:
  Pads padding_;
};

}  // namespace treadle
