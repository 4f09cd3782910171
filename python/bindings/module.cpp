/// treadle._core: the library as Python sees it.
#include <nanobind/nanobind.h>

#include "python/bindings/rooms.h"

NB_MODULE(_core, m) {
  using namespace treadle::python;
  m.doc() = "The compiled half of the package treadle.";
  bind_errors(m);
  bind_dtypes(m);
  bind_tensor(m);
  bind_autograd(m);
  bind_functions(m);
}
