/// What a library's convolution without a bias needs to serve the conv2d op on a GPU.
#pragma once

#include "treadle/graph/variant.h"

namespace treadle::cuda {

/// Fills the output of a conv2d call with its bias, for the convolution to be added to. Defined in naive.cu.
void start_with_filter_bias(const Call& call);

}  // namespace treadle::cuda
