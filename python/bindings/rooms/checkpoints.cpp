/// Files of tensors, checkpoints, and the folders of runs.
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/unique_ptr.h>

#include "python/bindings/named_tensors.h"
#include "python/bindings/rooms.h"
#include "treadle/formats/safetensors.h"
#include "treadle/train/load_model.h"
#include "treadle/train/run_folder.h"

namespace treadle::python {
namespace {

using Path = std::filesystem::path;

nb::tuple load_tensors(const Path& path) {
  SafetensorsFile file;
  {
    nb::gil_scoped_release released;
    file = load_safetensors(path);
  }
  nb::dict tensors;
  for (const SafetensorsEntry& entry : file.entries) tensors[entry.name.c_str()] = entry.tensor;
  return nb::make_tuple(tensors, file.metadata);
}

void save_tensors(const Path& path, const nb::dict& tensors,
                  const std::map<std::string, std::string>& metadata) {
  std::vector<SafetensorsEntry> entries;
  for (auto& [name, tensor] : tensors_of(tensors)) entries.push_back({name, tensor});
  nb::gil_scoped_release released;
  save_safetensors(path, entries, metadata);
}

void bind_checkpoint(nb::module_& m) {
  using C = Checkpoint;
  nb::class_<C>(m, "Checkpoint", "A model's weights with what is needed to use them, and a run's state.")
      .def(nb::init<>())
      .def_rw("model", &C::model, "The name that it is known by.")
      .def_rw("model_options", &C::model_options, "The model's own options, as texts by name.")
      .def_rw("classes", &C::classes, "The name of each label.")
      .def_rw("input", &C::input, "The shape of one example.")
      .def_rw("dataset", &C::dataset, "What it was trained on.")
      .def_rw("seed", &C::seed, "The run's.")
      .def_rw("epoch", &C::epoch, "Epochs completed.")
      .def_rw("step", &C::step, "Steps completed.")
      .def_rw("training", &C::training, "How the run was started.")
      .def_prop_rw(
          "normalization",
          [](const C& self) {
            return std::make_tuple(self.normalization.mean, self.normalization.deviation);
          },
          [](C& self, const std::tuple<std::vector<float>, std::vector<float>>& value) {
            self.normalization = {std::get<0>(value), std::get<1>(value)};
          },
          "Mean and deviation that examples are normalised by: two lists, empty for none.")
      .def_prop_rw(
          "parameters", [](const C& self) { return dict_of(self.parameters); },
          [](C& self, const nb::dict& state) { self.parameters = tensors_of(state); },
          "Parameters and buffers by name: a state_dict().")
      .def_prop_rw(
          "optimizer_state", [](const C& self) { return dict_of(self.optimizer_state); },
          [](C& self, const nb::dict& state) { self.optimizer_state = tensors_of(state); },
          "An optimizer's state_dict(); empty in one that is only for use.");
  m.def("save_checkpoint", save_checkpoint, nb::arg("path"), nb::arg("checkpoint"),
        nb::call_guard<nb::gil_scoped_release>(),
        "Writes beside the target and renames. Raises FileError; then an older file is as it was.");
  m.def("load_checkpoint", load_checkpoint, nb::arg("path"), nb::call_guard<nb::gil_scoped_release>(),
        "Raises FileError, FormatError for what is damaged, no checkpoint, or of an unknown version.");
  m.def("_load_model", [](const std::string& path) {
    LoadedModel loaded;
    {
      nb::gil_scoped_release released;
      loaded = load_model(path);
    }
    return nb::make_tuple(loaded.module, std::move(loaded.checkpoint), loaded.file);
  });
}

nb::list epochs_in(const Path& path) {
  nb::list epochs;
  for (const EpochFigures& one : RunFolder::epochs_in(path)) {
    nb::dict figures = nb::cast<nb::dict>(nb::cast(one.values));
    figures["epoch"] = one.epoch;
    epochs.append(figures);
  }
  return epochs;
}

void bind_run_folder(nb::module_& m) {
  using F = RunFolder;
  nb::class_<F>(m, "RunFolder",
                "The folder of a run, which belongs to one process at a time: last.safetensors, perhaps "
                "best.safetensors, config.toml, metrics.jsonl.")
      .def(nb::init<const Path&>(), nb::arg("path"),
           "Makes the folder where it is absent. Raises FileError when another process has it.")
      .def_static("make_new", &F::make_new, nb::arg("base"),
                  "The first of base, base-2, base-3, … that does not exist.")
      .def_static("holds_run", &F::holds_run, nb::arg("path"), "Whether a folder holds files of a run.")
      .def_static("model_file", &F::model_file, nb::arg("path"),
                  "The checkpoint of a run to use: the best one, else the last.")
      .def_static("epochs_in", epochs_in, nb::arg("path"),
                  "The figures of a run's finished epochs, as dicts.")
      .def_prop_ro("path", &F::path, "The folder.")
      .def_prop_ro("last_file", &F::last_file, "The checkpoint of the last state, last.safetensors.")
      .def_prop_ro("best_file", &F::best_file,
                   "That of the best epoch, best.safetensors, where there is a validation part.")
      .def(
          "close", [](nb::handle self) { nb::inst_destruct(self); },
          "Lets other processes have the folder; the object is of no use afterwards. A folder that was made "
          "here and has nothing in it is removed.")
      .def("set_config", &F::set_config, nb::arg("toml"), "The text of config.toml.");
}

}  // namespace

void bind_checkpoints(nb::module_& m) {
  nb::module_ part = m.def_submodule("_checkpoints", "Files of tensors, checkpoints and runs.");
  part.def("load_tensors", load_tensors, nb::arg("path"));
  part.def("save_tensors", save_tensors, nb::arg("path"), nb::arg("tensors"), nb::arg("metadata"));
  bind_checkpoint(part);
  bind_run_folder(part);
}

}  // namespace treadle::python
