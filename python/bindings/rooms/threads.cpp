/// The threads that ops on the cpu run on.
#include "python/bindings/rooms.h"
#include "treadle/core/parallel_for.h"

namespace treadle::python {

void bind_threads(nanobind::module_& m) {
  m.def("num_threads", num_threads,
        "How many threads ops on the cpu run on: TREADLE_THREADS, else all cores that there are.");
  m.def("set_num_threads", set_num_threads, nanobind::arg("count"),
        "Sets it, for the calls that begin from now on. Raises ValueError for less than 1.");
}

}  // namespace treadle::python
