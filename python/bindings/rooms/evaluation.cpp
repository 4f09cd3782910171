/// Figures of models on data.
#include <fmt/core.h>

#include "python/bindings/examples.h"
#include "python/bindings/figures.h"
#include "python/bindings/measures.h"
#include "python/bindings/rooms.h"

namespace treadle::python {
namespace {

void bind_classes(nb::module_& m) {
  using E = Evaluation;
  nb::class_<ClassFigures>(m, "ClassFigures", "Precision, recall and F1 of a class; 0 where undefined.")
      .def_ro("precision", &ClassFigures::precision,
              "Of the examples that are taken for the class, the share that is of it.")
      .def_ro("recall", &ClassFigures::recall,
              "Of the examples of the class, the share that is taken for it.")
      .def_ro("f1", &ClassFigures::f1, "The harmonic mean of both.")
      .def("__repr__", [](const ClassFigures& self) {
        return fmt::format("ClassFigures(precision={:.4f}, recall={:.4f}, f1={:.4f})", self.precision,
                           self.recall, self.f1);
      });
  nb::class_<E>(m, "Evaluation", "Accuracy and loss of a classifier.")
      .def_ro("loss", &E::loss, "Mean cross-entropy of an example.")
      .def_ro("accuracy", &E::accuracy, "Share of the examples whose largest logit is their label.")
      .def_ro("correct", &E::correct, "By class.")
      .def_ro("total", &E::total, "By class.")
      .def_ro("confusion", &E::confusion,
              "Examples counted by their label, the row, and the class that the model gives, the column.")
      .def_prop_ro(
          "classes", [](const E& self) { return class_metrics(self.confusion).classes; },
          "Precision, recall and F1 of each class.")
      .def_prop_ro(
          "macro", [](const E& self) { return class_metrics(self.confusion).macro; },
          "Their means over the classes.")
      .def("__getitem__",
           [](const E& self, const std::string& name) {
             if (name == "loss") return self.loss;
             if (name == "accuracy") return self.accuracy;
             throw nb::key_error(name.c_str());
           })
      .def("__repr__", [](const E& self) {
        return fmt::format("Evaluation(accuracy={:.4f}, loss={:.4f})", self.accuracy, self.loss);
      });
}

Evaluation evaluate_classifier(Module& model, nb::handle data, const ClassifierOptions& options,
                               int64_t classes, int64_t batch_size, int64_t limit) {
  Interruption interruption;
  const auto examples = examples_in(data, options, false, interruption);
  return interruption.around(
      [&] { return Evaluator(model)(*examples, classes, batch_size, limit, interruption.token()); });
}

nb::dict evaluate_by(Module& model, nb::handle data, const ClassifierOptions& options, nb::object loss,
                     const NamedFunctions& figures, int64_t batch_size, int64_t limit) {
  Interruption interruption;
  const auto examples = examples_in(data, options, false, interruption);
  MeasuredFunction function(model, std::move(loss), figures);
  return dict_of(
      interruption.around([&] { return function.over(*examples, batch_size, limit, interruption.token()); }));
}

}  // namespace

void bind_evaluation(nb::module_& m) {
  nb::module_ part = m.def_submodule("_evaluation", "Figures of models on data.");
  bind_classes(part);
  nb::class_<Examples>(part, "Examples");
  nb::class_<TensorExamples, Examples>(part, "TensorExamples").def(nb::init<std::vector<Tensor>, Device>());
  nb::class_<PythonExamples, Examples>(part, "PythonExamples").def(nb::init<int64_t, nb::object, Device>());
  part.def("evaluate_classifier", evaluate_classifier);
  part.def("evaluate_by", evaluate_by, nb::arg("model"), nb::arg("data"), nb::arg("options"),
           nb::arg("loss").none(), nb::arg("figures"), nb::arg("batch_size"), nb::arg("limit"));
}

}  // namespace treadle::python
