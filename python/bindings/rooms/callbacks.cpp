/// What is told of a training: Callback, which Python's classes derive from, and the library's own.
#include "treadle/train/callback.h"

#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/trampoline.h>

#include "python/bindings/figures.h"
#include "python/bindings/rooms.h"
#include "treadle/train/callbacks/csv_log.h"
#include "treadle/train/callbacks/early_stopping.h"
#include "treadle/train/callbacks/profiler.h"
#include "treadle/train/callbacks/tensorboard_log.h"
#include "treadle/train/classification/fit_classifier.h"

namespace treadle::python {
namespace {

class PythonCallback final : public Callback {
 public:
  NB_TRAMPOLINE(Callback, 6);

  void begin_fit(const FitStart& start) override { NB_OVERRIDE(begin_fit, start); }
  void begin_epoch(int64_t epoch) override { NB_OVERRIDE(begin_epoch, epoch); }
  void end_step(const StepReport& report) override { NB_OVERRIDE(end_step, report); }
  void end_epoch(const EpochReport& report) override { NB_OVERRIDE(end_epoch, report); }
  void end_fit(const FitResult& result) override { NB_OVERRIDE(end_fit, result); }
  bool wants_end() const override { NB_OVERRIDE(wants_end); }
};

void bind_reports(nb::module_& m) {
  nb::class_<FitStart>(m, "FitStart", "Before the first step.")
      .def_prop_ro(
          "model", [](const FitStart& self) { return &self.model; }, nb::rv_policy::reference,
          "What is trained.")
      .def_ro("epochs", &FitStart::epochs, "How many there will be.")
      .def_ro("steps_in_epoch", &FitStart::steps_in_epoch, "How many each epoch has.")
      .def_ro("epochs_done", &FitStart::epochs_done, "By the run that is resumed.")
      .def_ro("steps_done", &FitStart::steps_done, "By the run that is resumed.")
      .def_prop_ro(
          "earlier",
          [](const FitStart& self) {
            nb::list epochs;
            for (const EpochFigures& one : self.earlier) epochs.append(nb::cast(one.values));
            return epochs;
          },
          "The figures of its epochs, as dicts, where it has a folder.");
  using S = StepReport;
  nb::class_<S>(m, "StepReport", "After a step.")
      .def_ro("epoch", &S::epoch, "From 0.")
      .def_ro("epochs", &S::epochs, "How many there will be.")
      .def_ro("step_in_epoch", &S::step_in_epoch, "Steps done in this epoch.")
      .def_ro("steps_in_epoch", &S::steps_in_epoch, "How many each epoch has.")
      .def_ro("examples_done", &S::examples_done, "In this epoch, by this call.")
      .def_ro("loss", &S::loss, "The batch's, before the step.")
      .def_ro("seconds", &S::seconds, "Of this step.");
  using E = EpochReport;
  nb::class_<E>(m, "EpochReport", "After an epoch, once its checkpoint is written.")
      .def_ro("epoch", &E::epoch, "Epochs done.")
      .def_ro("epochs", &E::epochs, "How many there will be.")
      .def_ro("steps", &E::steps, "Of the run, done.")
      .def_ro("examples", &E::examples, "Trained on in this epoch.")
      .def_ro("train_loss", &E::train_loss, "Mean over the epoch's examples.")
      .def_prop_ro(
          "validation", [](const E& self) { return dict_or_none(self.validation); },
          "Figures by name; None without a validation part.")
      .def_prop_ro(
          "test", [](const E& self) { return dict_or_none(self.test); },
          "Figures by name; None after an epoch without a test.")
      .def_ro("seconds", &E::seconds, "Training steps of this epoch.")
      .def_ro("learning_rate", &E::learning_rate, "The optimizer's when the epoch ended.")
      .def_ro("best", &E::best, "The best so far on the validation part.")
      .def_prop_ro(
          "figures", [](const E& self) { return self.figures().values; },
          "All of them by the names of metrics.jsonl.");
}

void bind_result(nb::module_& m) {
  using R = FitResult;
  nb::class_<R>(m, "FitResult", "What a training came to.")
      .def_ro("losses", &R::losses, "Of every step.")
      .def_prop_ro(
          "validation", [](const R& self) { return dict_or_none(self.validation); },
          "Figures of the weights that the model has now; None without such a part.")
      .def_prop_ro(
          "test", [](const R& self) { return dict_or_none(self.test); },
          "Figures of the weights that the model has now; None without such a part.")
      .def_prop_ro(
          "evaluation",
          [](const R& self) -> nb::object {
            const Evaluation found = evaluation_of(self.test);
            return found.total.empty() ? nb::none() : nb::cast(found);
          },
          "The test figures by class; None where there are none.")
      .def_ro("best_epoch", &R::best_epoch,
              "With a validation part: the epoch after which the model was as it is now.")
      .def_ro("train_seconds", &R::train_seconds, "Training steps only.")
      .def_ro("examples_per_second", &R::examples_per_second, "Median over steps.")
      .def_ro("epochs_done", &R::epochs_done, "Epochs that are complete.")
      .def_ro("steps_done", &R::steps_done, "Steps of the run.")
      .def_ro(
          "interrupted", &R::interrupted,
          "Whether it was asked to stop: figures are incomplete then, and weights those of the last step.")
      .def_ro("saved", &R::saved, "Whether the folder has the state of the last step.");
}

void bind_base(nb::module_& m) {
  using C = Callback;
  nb::class_<C, PythonCallback>(m, "Callback",
                                "What is told of a training and may end it: derive and define what is of "
                                "interest. All are called in the "
                                "thread of fit(), which ends with what one raises.")
      .def(nb::init<>())
      .def("begin_fit", &C::begin_fit, nb::arg("start"), "Before the first step.")
      .def("begin_epoch", &C::begin_epoch, nb::arg("epoch"), "From 0; also where a resumed run goes on.")
      .def("end_step", &C::end_step, nb::arg("report"), "After each step.")
      .def("end_epoch", &C::end_epoch, nb::arg("report"), "Once the epoch's checkpoint is written.")
      .def("end_fit", &C::end_fit, nb::arg("result"), "Not where fit() ends with an exception.")
      .def("wants_end", &C::wants_end, "Asked before each epoch: whether the run ends here.");
}

void bind_own(nb::module_& m) {
  const EarlyStoppingOptions early;
  nb::class_<EarlyStopping, Callback>(
      m, "EarlyStopping",
      "Ends a run when a figure has not become better for `patience` epochs. Prechelt, 1998.")
      .def(
          "__init__",
          [](EarlyStopping* self, const std::string& figure, bool higher_is_better, int64_t patience,
             double min_delta) {
            new (self) EarlyStopping({figure, higher_is_better, patience, min_delta});
          },
          nb::arg("figure") = early.figure, nb::arg("higher_is_better") = early.higher_is_better,
          nb::arg("patience") = early.patience, nb::arg("min_delta") = early.min_delta,
          "figure: as in EpochReport.figures; min_delta: what is better by no more counts as no better.");
  nb::class_<CsvLog, Callback>(m, "CsvLog", "The figures of all epochs as a table: a row for each.")
      .def(nb::init<std::filesystem::path>(), nb::arg("file"));
  nb::class_<TensorboardLog, Callback>(
      m, "TensorboardLog",
      "The run as event files that TensorBoard shows: losses, figures, histograms of the parameters.")
      .def(
          "__init__",
          [](TensorboardLog* self, std::filesystem::path folder,
             std::map<std::string, HyperParameter> hyper_parameters) {
            new (self) TensorboardLog({std::move(folder), std::move(hyper_parameters)});
          },
          nb::arg("folder"), nb::arg("hyper_parameters") = std::map<std::string, HyperParameter>());
  const ProfilerOptions profile;
  nb::class_<Profiler, Callback>(m, "Profiler", "Where the time of training steps goes, op by op.")
      .def(
          "__init__",
          [](Profiler* self, int64_t skip, int64_t steps) {
            new (self) Profiler({skip, steps});
          },
          nb::arg("skip") = profile.skip, nb::arg("steps") = profile.steps,
          "skip: steps that are passed over first; steps: that are profiled then.")
      .def_prop_ro(
          "runs",
          [](const Profiler& self) {
            nb::list runs;
            for (const ProfiledRun& run : self.runs()) {
              nb::dict row;
              row["op"] = run.op, row["variant"] = run.variant, row["operands"] = run.operands;
              row["step"] = run.step, row["begin"] = run.begin, row["seconds"] = run.seconds;
              row["bytes"] = run.bytes, row["operations"] = run.operations;
              runs.append(row);
            }
            return runs;
          },
          "A dict for each run of a variant, in order; seconds since the profile began.")
      .def(
          "trace", [](const Profiler& self) { return trace_of(self.steps(), self.runs()); },
          "JSON that chrome://tracing and ui.perfetto.dev show.");
}

}  // namespace

void bind_callbacks(nb::module_& m) {
  nb::module_ part = m.def_submodule("_callbacks", "What is told of a training.");
  bind_reports(part);
  bind_result(part);
  bind_base(part);
  bind_own(part);
}

}  // namespace treadle::python
