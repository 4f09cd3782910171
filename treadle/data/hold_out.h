/// Holding out a part of the training images: for validation, on which models are compared, or for the test.
#pragma once  // public

#include <cstdint>

#include "treadle/core/export.h"
#include "treadle/data/dataset.h"

namespace treadle {

/// Moves a share of splits.train, drawn by the seed, to splits.validation; both keep the images' order. Which
/// ones depends on their number, the share and the seed alone: the first entries of the Fisher–Yates shuffle
/// drawn from SplitMix64(mix(mix(seed) - 1)), see data/batches.h. Throws ValueError unless 0 < share < 1 and
/// both parts have an image.
TREADLE_API void hold_out(DatasetSplits& splits, double share, uint64_t seed);

/// The same to splits.test, for files that name no test part; drawn from SplitMix64(mix(mix(seed) - 2)).
TREADLE_API void hold_out_test(DatasetSplits& splits, double share, uint64_t seed);

}  // namespace treadle
