/// Accuracy by class, as a table.
#pragma once

#include <string>
#include <vector>

#include "treadle/train/evaluate.h"

namespace treadle::cli {

std::string class_table(const std::vector<std::string>& classes, const Evaluation& evaluation);

}  // namespace treadle::cli
