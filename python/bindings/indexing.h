/// Views of tensors by indices.
#pragma once

#include <optional>

#include "python/bindings/arguments.h"

namespace treadle::python {

/// A view of x by ints, slices with positive steps, None and an ellipsis; nothing where the key has something
/// else. Raises IndexError for places that x does not have.
std::optional<Tensor> basic_view(const Tensor& x, nb::handle key);

}  // namespace treadle::python
