/// The elements of a tensor as bytes, in row-major order. Internal to formats/.
#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "treadle/core/tensor.h"

namespace treadle {

/// Hands all bytes to `sink`, of a tensor on any device and with any strides.
void visit_row_major_bytes(const Tensor& tensor, const std::function<void(std::span<const std::byte>)>& sink);

/// The index of the first byte that is neither 0 nor 1, or -1: any other value of a bool would be undefined
/// behaviour wherever it is read.
int64_t first_that_is_no_bool(std::span<const std::byte> bytes);

}  // namespace treadle
