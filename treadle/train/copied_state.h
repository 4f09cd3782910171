/// Copies of named tensors, for taking a state back later.
#pragma once

#include <vector>

#include "treadle/nn/module.h"
#include "treadle/ops/layout/copy.h"

namespace treadle {

inline std::vector<NamedTensor> copies_of(const std::vector<NamedTensor>& tensors) {
  std::vector<NamedTensor> copies;
  for (auto& [name, tensor] : tensors) copies.push_back({name, clone(tensor.detach())});
  return copies;
}

}  // namespace treadle
