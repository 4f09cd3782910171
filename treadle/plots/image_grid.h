/// Images beside one another, as one image.
#pragma once  // public

#include <span>

#include "treadle/core/export.h"
#include "treadle/formats/image.h"

namespace treadle {

struct GridOptions {
  int columns = 8;
  int scale = 1;  ///< pixels of the grid per pixel, each way
  int gap = 2;    ///< white pixels between images
};

/// Row by row; the last row may be shorter. Grey images become RGB where others are. Throws ValueError unless
/// there are images, all of one size, and the options are positive (a gap may be 0).
TREADLE_API Image image_grid(std::span<const Image> images, const GridOptions& options = {});

}  // namespace treadle
