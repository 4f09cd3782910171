/// The parts of the module: those that others need before them, and the rest, each a file of rooms/, which
/// the build finds.
#pragma once

#include <nanobind/nanobind.h>

#include "treadle/core/tensor.h"

namespace treadle::python {

void bind_errors(nanobind::module_& m);
void bind_dtypes(nanobind::module_& m);
/// With the functions of ops, some of which are methods, too.
void bind_tensor(nanobind::module_& m);
void bind_modules(nanobind::module_& m);

// Generated from the public headers.
void bind_functions(nanobind::module_& m, nanobind::class_<Tensor>& tensor);
void bind_layers(nanobind::module_& m);
void bind_initializers(nanobind::module_& m);

/// Generated: calls bind_NAME for each rooms/NAME.cpp.
void bind_rooms(nanobind::module_& m);

}  // namespace treadle::python
