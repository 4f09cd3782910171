/// Fully connected layer.
#pragma once

#include "treadle/core/random.h"
#include "treadle/nn/module.h"

namespace treadle {

/// y = x·Wᵀ + b: x [..., in] → y [..., out]; weight [out, in], bias [out].
class TREADLE_API Linear final : public Module {
 public:
  Linear(int64_t in_features, int64_t out_features, bool bias = true,
         Generator& generator = default_generator());
  std::string describe() const override;
  int64_t multiply_adds(const Shape& input, const Shape& output) const override;

  Tensor weight, bias;

 protected:
  Tensor forward(const Tensor& x) override;
};

}  // namespace treadle
