/// Learning-rate schedules of all kinds.
#include "treadle/optim/schedule.h"

#include "python/bindings/options.h"
#include "python/bindings/rooms.h"

namespace treadle::python {
namespace {

nb::list kinds() {
  nb::list all;
  for (const ScheduleKind& kind : known_schedule_kinds()) {
    nb::dict found = described_kind(kind);
    found["follows_figure"] = kind.observe != nullptr;
    all.append(found);
  }
  return all;
}

std::map<std::string, OptionValue> options_of(const std::string& name, const nb::dict& given) {
  for (const ScheduleKind& kind : known_schedule_kinds())
    if (kind.name == name) return option_values(*kind.options, given);
  return {};
}

}  // namespace

void bind_schedules(nb::module_& m) {
  nb::module_ part = m.def_submodule("_lr_scheduler", "Learning-rate schedules.");
  part.def("_kinds", kinds);
  nb::class_<Schedule>(part, "Rates", "A learning rate for each step of a run.")
      .def(
          "__init__",
          [](Schedule* self, const std::string& name, double rate, const nb::dict& options,
             int64_t total_steps, int64_t steps_per_epoch, int64_t warm_up_steps) {
            new (self) Schedule(Schedule::named(name, rate, {total_steps, steps_per_epoch, warm_up_steps},
                                                options_of(name, options)));
          },
          nb::arg("name"), nb::arg("rate"), nb::arg("options") = nb::dict(), nb::arg("total_steps") = 0,
          nb::arg("steps_per_epoch") = 1, nb::arg("warm_up_steps") = 0)
      .def("at", &Schedule::at, nb::arg("step"), "The rate of a step, from 0. Raises ValueError below 0.")
      .def_prop_ro("follows_figure", &Schedule::follows_figure,
                   "Whether the rates depend on what observe() is told.")
      .def("observe", &Schedule::observe, nb::arg("figure"), nb::arg("higher_is_better"),
           "A figure of the validation part, once after each epoch.")
      .def_prop_rw("kept", &Schedule::kept, &Schedule::set_kept, "What observe() has left.");
}

}  // namespace treadle::python
