/// Copies between views on a device, for ops that are copies of parts.
#pragma once

#include "treadle/ops/device_variant.h"
#include "treadle/ops/layout/copy_elements.h"

namespace treadle::TREADLE_TARGET {

/// target[i] = source[i], source broadcast to target's shape; same dtype, no overlap, any strides.
void copy_elements(stream_t stream, const TensorView& target, const TensorView& source);

/// Sets every element to the value whose lowest bytes are `bits`.
void fill_elements(stream_t stream, const TensorView& target, uint64_t bits);

}  // namespace treadle::TREADLE_TARGET
