/// Models that are known by name.
#include "treadle/models/model.h"

#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>

#include <optional>

#include "python/bindings/options.h"
#include "python/bindings/rooms.h"

namespace treadle::python {
namespace {

nb::dict description(const ModelInfo& info) {
  nb::dict found, recipes;
  for (const Preset& preset : info.presets) recipes[preset.name.c_str()] = nb::cast(preset.options);
  found["name"] = info.name;
  found["description"] = info.description;
  found["input"] = nb::cast(info.input);
  found["classes"] = info.classes;
  found["follows_data"] = info.follows_data;
  found["task"] = info.task;
  found["options"] = info.options ? described_options(*info.options) : nb::list();
  found["recipes"] = recipes;
  return found;
}

std::shared_ptr<Module> make(const std::string& name, std::optional<Dims> input,
                             std::optional<int64_t> classes,
                             const std::map<std::string, std::string>& options, uint64_t seed) {
  const ModelInfo& info = model_info(name);
  const ModelTask task{input ? Shape(*input) : info.input, classes.value_or(info.classes), options};
  nb::gil_scoped_release released;
  return make_model(name, task, seed);
}

}  // namespace

void bind_models(nb::module_& m) {
  nb::module_ part = m.def_submodule("_models", "Models that are known by name.");
  part.def("_infos", [] {
    nb::list all;
    for (const ModelInfo& info : known_models()) all.append(description(info));
    return all;
  });
  part.def("_info", [](const std::string& name) { return description(model_info(name)); });
  part.def("_make", make, nb::arg("name"), nb::arg("input").none(), nb::arg("classes").none(),
           nb::arg("options"), nb::arg("seed"));
}

}  // namespace treadle::python
