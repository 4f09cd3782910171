/// treadle._core: the library as Python sees it.
#include <nanobind/nanobind.h>

#include <cstdlib>

#include "python/bindings/rooms.h"
#include "treadle/core/version.h"

NB_MODULE(_core, m) {
  using namespace treadle::python;
  m.doc() = "The compiled half of the package treadle.";
  // Python does not promise to take everything down before it ends; whoever looks for leaks asks to be told.
  nanobind::set_leak_warnings(std::getenv("TREADLE_PYTHON_LEAKS") != nullptr);
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
