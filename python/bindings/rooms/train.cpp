/// Training: fit(), its options, and the search for a learning rate.
#include "treadle/train/fit.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>

#include "python/bindings/figures.h"
#include "python/bindings/measures.h"
#include "python/bindings/rooms.h"
#include "python/bindings/run.h"
#include "treadle/train/learning_rate_finder.h"

namespace treadle::python {
namespace {

using Options = ClassifierOptions;

void bind_options(nb::module_& m) {
  nb::class_<Options>(m, "_Options")
      .def(nb::init<>())
      .def_rw("epochs", &Options::epochs)
      .def_rw("batch_size", &Options::batch_size)
      .def_rw("seed", &Options::seed)
      .def_rw("limit_batches", &Options::limit_batches)
      .def_rw("steps", &Options::max_steps)
      .def_rw("test_last_only", &Options::test_last_only)
      .def_rw("description", &Options::description)
      .def_rw("device", &Options::device)
      .def_rw("label_smoothing", &Options::label_smoothing)
      .def_rw("loader_threads", &Options::loader_threads, nb::arg().none())
      .def("set_save_every",
           [](Options& self, int64_t steps, double seconds) {
             self.save_every = {steps, seconds};
           })
      .def("set_augment",
           [](Options& self, const std::string& text) { self.augmentations = Augmentations::parse(text); })
      .def("set_step",
           [](Options& self, int64_t parts, double clip_norm, DType precision) {
             self.step = {.parts = parts, .clip_norm = clip_norm, .precision = precision};
           })
      // What these refer to must outlive the call of fit(), whose frame holds it.
      .def(
          "set_parts",
          [](Options& self, WeightAverage* average, LossScaler* scaler, RunFolder* folder,
             Checkpoint* resume) {
            self.average = average, self.scaler = scaler, self.folder = folder, self.resume = resume;
          },
          nb::arg("average").none(), nb::arg("scaler").none(), nb::arg("folder").none(),
          nb::arg("resume").none());
}

FitResult fit_classes(Module& model, Optimizer& optimizer, const Schedule& schedule, nb::handle train,
                      nb::handle validation, nb::handle test, int64_t classes, const Options& options,
                      const std::vector<Callback*>& callbacks, nb::object tick) {
  Run run(options, callbacks, std::move(tick));
  const auto train_part = run.examples(train, true), validation_part = run.examples(validation, false),
             test_part = run.examples(test, false);
  return run([&] {
    return fit_classifier(model, optimizer, schedule,
                          {*train_part, validation_part.get(), test_part.get(), classes}, run.options());
  });
}

FitTask task_by(Module& model, Optimizer& optimizer, const Schedule& schedule, const Examples& train,
                nb::object loss, const Options& options) {
  FitTask task{model, optimizer, schedule, train};
  StepOptions step = options.step;
  step.average = options.average, step.scaler = options.scaler;
  task.step = training_step(optimizer, loss_of(model, std::move(loss)), step);
  return task;
}

Measure measure_on(const Examples* part, MeasuredFunction& function, const Options& options) {
  if (!part) return nullptr;
  return [part, &function, &options](std::stop_token stop) {
    return function.over(*part, options.batch_size, options.limit_batches * options.batch_size, stop);
  };
}

FitResult fit_by(Module& model, Optimizer& optimizer, const Schedule& schedule, nb::handle train,
                 nb::handle validation, nb::handle test, nb::object loss, const NamedFunctions& figures,
                 const std::string& best_by, bool higher_is_better, const Options& options,
                 const std::vector<Callback*>& callbacks, nb::object tick) {
  Run run(options, callbacks, std::move(tick));
  const auto train_part = run.examples(train, true), validation_part = run.examples(validation, false),
             test_part = run.examples(test, false);
  FitTask task = task_by(model, optimizer, schedule, *train_part, loss, run.options());
  MeasuredFunction function(model, std::move(loss), figures);
  task.validate = measure_on(validation_part.get(), function, run.options());
  task.test = measure_on(test_part.get(), function, run.options());
  task.best_by = best_by, task.higher_is_better = higher_is_better;
  return run([&] { return fit(task, run.options()); });
}

LearningRateCurve find_rate(Module& model, Optimizer& optimizer, nb::handle train, nb::object loss,
                            const Options& options, double lowest, double highest, int64_t steps) {
  Run run(options, {}, nb::none());
  const auto train_part = run.examples(train, true);
  const Schedule schedule = Schedule::named("constant", lowest);
  const FitTask task = task_by(model, optimizer, schedule, *train_part, std::move(loss), run.options());
  const LearningRateSearch search{lowest,       highest,           steps, options.batch_size,
                                  options.seed, run.options().stop};
  return run([&] { return find_learning_rate(task, search); });
}

void bind_search(nb::module_& m) {
  nb::class_<LearningRateCurve>(m, "LearningRateCurve", "Losses over rising learning rates.")
      .def_ro("rates", &LearningRateCurve::rates, "Of each step.")
      .def_ro("losses", &LearningRateCurve::losses, "Of each step, smoothed.")
      .def_ro("suggestion", &LearningRateCurve::suggestion,
              "The rate at which the loss falls fastest; 0 where it never falls.");
  m.def("_find_rate", find_rate, nb::arg("model"), nb::arg("optimizer"), nb::arg("train"),
        nb::arg("loss").none(), nb::arg("options"), nb::arg("lowest"), nb::arg("highest"), nb::arg("steps"));
}

}  // namespace

void bind_train(nb::module_& m) {
  nb::module_ part = m.def_submodule("_train", "Training.");
  bind_options(part);
  bind_search(part);
  part.def("_fit_classes", fit_classes, nb::arg("model"), nb::arg("optimizer"), nb::arg("schedule"),
           nb::arg("train"), nb::arg("validation").none(), nb::arg("test").none(), nb::arg("classes"),
           nb::arg("options"), nb::arg("callbacks"), nb::arg("tick").none());
  part.def("_fit_by", fit_by, nb::arg("model"), nb::arg("optimizer"), nb::arg("schedule"), nb::arg("train"),
           nb::arg("validation").none(), nb::arg("test").none(), nb::arg("loss").none(), nb::arg("figures"),
           nb::arg("best_by"), nb::arg("higher_is_better"), nb::arg("options"), nb::arg("callbacks"),
           nb::arg("tick").none());
}

}  // namespace treadle::python
