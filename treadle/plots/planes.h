/// Numbers as grey images.
#pragma once  // public

#include <cstdint>
#include <span>
#include <vector>

#include "treadle/core/export.h"
#include "treadle/formats/image.h"

namespace treadle {

/// `values` as planes of height × width, `channels` of them an image. `around_zero`: 0 is mid-grey, and the
/// largest size of an image's numbers black or white; else its least number is black and its largest white.
/// Throws ValueError unless the values fill whole images and the extents are positive.
TREADLE_API std::vector<Image> images_of_planes(std::span<const float> values, int height, int width,
                                                int channels, bool around_zero);

}  // namespace treadle
