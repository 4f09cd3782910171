/// Tensors by their names, as dicts of Python's.
#pragma once

#include <string>
#include <vector>

#include "python/bindings/arguments.h"
#include "treadle/nn/module.h"

namespace treadle::python {

inline nb::dict dict_of(const std::vector<NamedTensor>& tensors) {
  nb::dict named;
  for (const NamedTensor& one : tensors) named[one.name.c_str()] = one.tensor.detach();
  return named;
}

inline std::vector<NamedTensor> tensors_of(const nb::dict& named) {
  std::vector<NamedTensor> tensors;
  for (auto [name, tensor] : named)
    tensors.push_back({nb::cast<std::string>(name), nb::cast<Tensor>(tensor)});
  return tensors;
}

}  // namespace treadle::python
