/// A confusion matrix as a drawing.
#pragma once  // public

#include <cstdint>
#include <string>
#include <vector>

#include "treadle/core/export.h"

namespace treadle {

/// An SVG: a row for each label, a column for each answer; a cell is the darker the larger its share of the
/// row, and tells its count where there are at most 20 classes. Throws ValueError unless the matrix is square
/// and has as many rows as names.
TREADLE_API std::string draw_confusion(const std::vector<std::string>& classes,
                                       const std::vector<std::vector<int64_t>>& confusion);

}  // namespace treadle
