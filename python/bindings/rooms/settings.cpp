/// Settings of the process that decide which variants of ops run.
#include "treadle/graph/settings.h"

#include "python/bindings/rooms.h"

namespace treadle::python {

void bind_settings(nanobind::module_& m) {
  m.def(
      "use_deterministic_algorithms", [](bool mode) { settings().deterministic = mode; },
      nanobind::arg("mode") = true,
      "Only variants that give the same bits twice run from now on, chosen without measuring: trainings of "
      "equal seeds are equal, in other processes and where they are resumed, too. For all threads.");
  m.def(
      "are_deterministic_algorithms_enabled", [] { return settings().deterministic; },
      "What use_deterministic_algorithms() has set, else False.");
}

}  // namespace treadle::python
