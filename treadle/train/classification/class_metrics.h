/// Precision, recall and F1 of each class, from a confusion matrix.
#pragma once  // public

#include <cstdint>
#include <vector>

#include "treadle/core/export.h"

namespace treadle {

/// Images counted by their label, the row, and by the class that the model gives them, the column.
using ConfusionMatrix = std::vector<std::vector<int64_t>>;

/// Each is 0 where its denominator is.
struct ClassFigures {
  double precision = 0;  ///< of the images that got the class, the share that has its label
  double recall = 0;     ///< of the images that have its label, the share that got the class
  double f1 = 0;         ///< 2·precision·recall / (precision + recall)
};

struct ClassMetrics {
  std::vector<ClassFigures> classes;
  /// Means over the classes that are the label or the answer of some image.
  ClassFigures macro;
};

/// Throws ValueError unless the matrix is square.
TREADLE_API ClassMetrics class_metrics(const ConfusionMatrix& confusion);

}  // namespace treadle
