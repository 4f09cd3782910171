/// Fully connected layer.
#pragma once  // public

#include "treadle/core/random.h"
#include "treadle/nn/module.h"

namespace treadle {

/// y = x·Wᵀ + b: x [..., in] → y [..., out]; weight [out, in], bias [out].
///
/// The weight lies in memory as [in][out], strides (1, out): all that one input contributes to is one row, so
/// that products which skip the zeros of x, as ReLU leaves them, skip whole rows.
class TREADLE_API Linear final : public Module {
 public:
  Linear(int64_t in_features, int64_t out_features, bool bias = true,
         Generator& generator = default_generator());
  std::string describe() const override;
  int64_t multiply_adds(std::span<const Shape> inputs, std::span<const Shape> outputs) const override;

  Tensor weight, bias;

 protected:
  Tensor forward(const Tensor& x) override;
};

}  // namespace treadle
