/// Accuracy by class, as a table, and of which images.
#pragma once

#include <string>
#include <vector>

#include "treadle/train/classification/evaluate.h"

namespace treadle::cli {

/// ", of the first 512 of 10,000 test images": what to say behind an accuracy when not all were used; else
/// "".
std::string share_of_test_set(int64_t images, int64_t in_test_set);

std::string class_table(const std::vector<std::string>& classes, const Evaluation& evaluation);

}  // namespace treadle::cli
