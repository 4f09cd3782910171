/// What tests compare of a model's or an optimizer's state.
#pragma once

#include <vector>

#include "treadle/nn/module.h"

namespace treadle {

inline std::vector<std::vector<double>> numbers_of(const std::vector<NamedTensor>& state) {
  std::vector<std::vector<double>> values;
  for (const NamedTensor& entry : state) values.push_back(entry.tensor.to_doubles());
  return values;
}

}  // namespace treadle
