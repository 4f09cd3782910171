/// Where the kernels that pool what they convolve leave their results.
#pragma once

#include <cstdint>

#include "treadle/ops/conv2d_max_pool2d/conv2d_max_pool2d_options.h"

namespace treadle::cpu {

/// y and choice of conv2d_max_pool2d, which lie alike: either filters or windows are next to one another
/// (their step is 1). Windows are numbered through all images.
struct PooledOutput {
  float* y;
  uint8_t* choice;  ///< null: not asked for
  int64_t windows;  ///< of one image
  int64_t image_step, window_step, filter_step;
  bool relu;

  int64_t at(int64_t window, int64_t filter) const {
    return window / windows * image_step + window % windows * window_step + filter * filter_step;
  }
};

}  // namespace treadle::cpu
