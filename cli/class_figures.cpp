#include "cli/class_figures.h"

#include <numeric>

#include "cli/format.h"

namespace treadle::cli {
namespace {

std::vector<std::string> row_of(const std::string& name, int64_t images, const ClassFigures& figures) {
  return {name, with_commas(images), percent(figures.precision), percent(figures.recall),
          percent(figures.f1)};
}

}  // namespace

void add_class_figures(Json& object, const Evaluation& evaluation) {
  const ClassMetrics metrics = class_metrics(evaluation.confusion);
  auto list = [&](double ClassFigures::*figure) {
    std::vector<double> values;
    for (const ClassFigures& figures : metrics.classes) values.push_back(figures.*figure);
    return values;
  };
  object.add("precision", list(&ClassFigures::precision));
  object.add("recall", list(&ClassFigures::recall));
  object.add("f1", list(&ClassFigures::f1));
  object.add("macro_precision", metrics.macro.precision);
  object.add("macro_recall", metrics.macro.recall);
  object.add("macro_f1", metrics.macro.f1);
  object.add("confusion", evaluation.confusion);
}

std::string class_figures_table(const std::vector<std::string>& classes, const Evaluation& evaluation) {
  const ClassMetrics metrics = class_metrics(evaluation.confusion);
  std::vector<std::vector<std::string>> rows{{"class", "images", "precision", "recall", "F1"}};
  for (size_t i = 0; i < classes.size(); ++i)
    rows.push_back(row_of(classes[i], evaluation.total[i], metrics.classes[i]));
  rows.push_back(row_of("mean of the classes",
                        std::accumulate(evaluation.total.begin(), evaluation.total.end(), int64_t(0)),
                        metrics.macro));
  return table(rows, {1, 2, 3, 4});
}

std::string confusion_table(const std::vector<std::string>& classes, const Evaluation& evaluation) {
  std::vector<std::vector<std::string>> rows{{"label \\ answer"}};
  std::vector<size_t> numbers;
  for (size_t i = 0; i < classes.size(); ++i) {
    rows[0].push_back(classes[i]);
    numbers.push_back(i + 1);
    std::vector<std::string> row{classes[i]};
    for (int64_t count : evaluation.confusion[i]) row.push_back(with_commas(count));
    rows.push_back(std::move(row));
  }
  return table(rows, numbers);
}

}  // namespace treadle::cli
