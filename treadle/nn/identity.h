/// The layer that does nothing.
#pragma once  // public

#include "treadle/nn/module.h"

namespace treadle {

/// y = x: what takes the place of a layer that is left out.
class TREADLE_API Identity final : public Module {
 public:
  std::string describe() const override { return "Identity"; }

 protected:
  Tensor forward(const Tensor& x) override { return x; }
};

}  // namespace treadle
