/// Random numbers: generators.
#include "treadle/core/random.h"

#include <fmt/core.h>

#include "python/bindings/arguments.h"
#include "python/bindings/rooms.h"

namespace treadle::python {

void bind_random(nb::module_& m) {
  nb::module_ part = m.def_submodule("_random", "Random numbers.");
  nb::class_<Generator>(part, "Generator",
                        "A seed and a position in the endless sequence of random numbers that belongs to it, "
                        "equal on every device. One thread uses it at a time.")
      .def(nb::init<uint64_t, uint64_t>(), nb::arg("seed") = 0, nb::arg("offset") = 0)
      .def_prop_rw("seed", &Generator::seed, &Generator::set_seed,
                   "Setting it starts the sequence of another seed.")
      .def_prop_rw("offset", &Generator::offset, &Generator::set_offset,
                   "The position, in blocks of four numbers.")
      .def(
          "manual_seed",
          [](nb::object self, uint64_t seed) -> SelfObject {
            nb::cast<Generator&>(self).set_seed(seed);
            return self;
          },
          nb::arg("seed"), "Starts the sequence of a seed; returns the generator.")
      .def(
          "initial_seed", [](const Generator& self) { return self.seed(); }, "The seed.")
      .def("__repr__",
           [](const Generator& self) {
             return fmt::format("Generator(seed={}, offset={})", self.seed(), self.offset());
           })
      .def("__getstate__", [](const Generator& self) { return std::make_tuple(self.seed(), self.offset()); })
      .def("__setstate__", [](Generator& self, const std::tuple<uint64_t, uint64_t>& state) {
        new (&self) Generator(std::get<0>(state), std::get<1>(state));
      });
  part.def(
      "default_generator", []() -> Generator& { return default_generator(); }, nb::rv_policy::reference,
      "The process's generator, with seed 0 at the start: used where none is given.");
}

}  // namespace treadle::python
