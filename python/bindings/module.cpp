/// treadle._core: the library as Python sees it.
#include <nanobind/nanobind.h>

#include "python/bindings/rooms.h"
#include "treadle/core/version.h"

NB_MODULE(_core, m) {
  using namespace treadle::python;
  m.doc() = "The compiled half of the package treadle.";
  m.attr("_version") = treadle::version();
  bind_errors(m);
  bind_dtypes(m);
  bind_tensor(m);
  nanobind::module_ nn = m.def_submodule("_nn", "Layers.");
  bind_modules(nn);
  bind_layers(nn);
  nanobind::module_ init = nn.def_submodule("_init", "Initialisation of parameters, in place.");
  bind_initializers(init);
  bind_rooms(m);
}
