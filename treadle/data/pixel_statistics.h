/// Mean and deviation of a data set's pixels or values.
#pragma once  // public

#include "treadle/core/export.h"
#include "treadle/data/batches.h"
#include "treadle/data/dataset.h"

namespace treadle {

/// Mean and standard deviation of pixel/255 over all images, for each channel; of values, for each index of
/// their first axis. The deviation of a channel whose pixels are all equal is 1. Throws ValueError for a data
/// set without images.
TREADLE_API PixelNormalization measure_normalization(const ImageDataset& dataset);

}  // namespace treadle
