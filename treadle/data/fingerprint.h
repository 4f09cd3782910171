/// Telling whether two data sets are the same.
#pragma once  // public

#include <string>

#include "treadle/core/export.h"
#include "treadle/data/dataset.h"
#include "treadle/data/text.h"

namespace treadle {

/// What a data set holds, as one line to read and to compare: numbers of images, their shape, classes, and a
/// hash of all training and test labels and pixels, or values. It does not depend on the name of the set nor
/// on where it lies.
TREADLE_API std::string fingerprint(const DatasetSplits& splits);

/// The same of a text: its length, the number of its characters, and a hash of all; before hold_out().
TREADLE_API std::string fingerprint(const TextDataset& text);

}  // namespace treadle
