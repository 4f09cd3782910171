/// The parts of the module, each in the file of its name.
#pragma once

#include <nanobind/nanobind.h>

namespace treadle::python {

void bind_dtypes(nanobind::module_& m);
void bind_errors(nanobind::module_& m);
void bind_tensor(nanobind::module_& m);
void bind_functions(nanobind::module_& m);  // generated
void bind_autograd(nanobind::module_& m);

}  // namespace treadle::python
