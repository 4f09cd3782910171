/// Products of matrices for ops that are made of them.
#pragma once

#include "treadle/ops/matrix/matrix_product.h"
#include "treadle/simt/device.h"

namespace treadle::TREADLE_TARGET {

/// c = a·b + bias by the kernel that takes any strides, dtypes and extents. Defined in tiled.cu.
void multiply_tiled(stream_t stream, const MatrixProduct& p);

/// The same by the fastest of Treadle's kernels that takes it. Defined in warp_tiled.cu.
void multiply(stream_t stream, const MatrixProduct& p);

}  // namespace treadle::TREADLE_TARGET
