/// Models as the scripts beside fill them.
#pragma once

#include <cmath>

#include "tests/goldens/golden_numbers.h"
#include "treadle/graph/autograd.h"
#include "treadle/nn/module.h"
#include "treadle/ops/layout/copy.h"

namespace treadle::goldens {

/// The bound of a weight, and of any parameter of several axes, follows from the elements of a row; others
/// have that of the parameter before.
inline void fill_parameters(Module& model) {
  uint32_t number = 0;
  float bound = 0;
  NoGrad no_grad;
  for (auto& [name, parameter] : model.named_parameters()) {
    if (name.ends_with("weight") || parameter.rank() > 1)
      bound = float(1 / std::sqrt(double(parameter.numel() / parameter.size(0))));
    copy_into(parameter, signed_tensor(100 + number++, parameter.shape(), bound));
  }
}

}  // namespace treadle::goldens
