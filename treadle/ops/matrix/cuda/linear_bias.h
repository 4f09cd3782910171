/// What a library's product without a bias needs to serve the linear op on a GPU.
#pragma once

#include "treadle/graph/variant.h"

namespace treadle::cuda {

/// Fills the output of a linear call with its bias, for the product to be added to. Defined in linear.cu.
void start_with_bias(const Call& call);

}  // namespace treadle::cuda
