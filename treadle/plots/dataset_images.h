/// Examples of a data set as images to look at.
#pragma once  // public

#include <span>
#include <vector>

#include "treadle/core/export.h"
#include "treadle/data/dataset.h"
#include "treadle/formats/image.h"

namespace treadle {

/// Whether the examples are images of 1 or 3 channels.
TREADLE_API bool can_be_seen(const ImageDataset& dataset);

/// Those of the indices. Throws ValueError where they cannot be seen, and for an index beyond the data set.
TREADLE_API std::vector<Image> images_of(const ImageDataset& dataset, std::span<const int64_t> indices);

}  // namespace treadle
