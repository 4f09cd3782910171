/// Figures by class of an evaluation: what files and --json say, and the table for people.
#pragma once

#include <string>
#include <vector>

#include "cli/json.h"
#include "treadle/train/classification/evaluate.h"

namespace treadle::cli {

/// Adds precision, recall and F1 of each class, their means over the classes, and the confusion matrix.
void add_class_figures(Json& object, const Evaluation& evaluation);

/// A row per class, and one of the means.
std::string class_figures_table(const std::vector<std::string>& classes, const Evaluation& evaluation);

/// How many images of each class, by rows, got each class.
std::string confusion_table(const std::vector<std::string>& classes, const Evaluation& evaluation);

}  // namespace treadle::cli
