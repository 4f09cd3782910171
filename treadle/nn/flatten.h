/// Flatten as a layer.
#pragma once  // public

#include "treadle/nn/module.h"
#include "treadle/ops/layout/views.h"

namespace treadle {

/// x [N, ...] → y [N, product of the rest], in logical (row-major) order whatever the layout.
class TREADLE_API Flatten final : public Module {
 public:
  std::string describe() const override { return "Flatten"; }

 protected:
  Tensor forward(const Tensor& x) override { return flatten(x, 1); }
};

}  // namespace treadle
