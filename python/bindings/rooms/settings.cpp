/// Settings of the process that decide which variants of ops run.
#include "treadle/graph/settings.h"

#include "python/bindings/rooms.h"

namespace treadle::python {

void bind_settings(nanobind::module_& m) {
  m.def(
      "use_deterministic_algorithms", [](bool mode) { settings().deterministic = mode; },
      nanobind::arg("mode") = true,
      "Only variants that give the same bits twice run from now on, chosen without measuring; so do "
      "trainings "
      "of equal seeds, in other processes, too, and those that are resumed. For all threads of the process.");
  m.def(
      "are_deterministic_algorithms_enabled", [] { return settings().deterministic; },
      "Whether use_deterministic_algorithms() has been called.");
}

}  // namespace treadle::python
