/// What chains call on the cpu device: an op over elements that lie close together.
#pragma once

#include <cstdint>
#include <string>

#include "treadle/core/dtype.h"
#include "treadle/graph/attributes.h"

namespace treadle {

/// `count` elements of each operand, one behind the other; `dtype` is theirs, a condition's aside.
using BlockFunction = void (*)(DType dtype, const Attributes& attributes, const void* const* operands,
                               void* result, int64_t count);

void add_block_function(const std::string& op, BlockFunction function);
/// Throws ValueError where the op has none.
BlockFunction block_function_of(const std::string& op);

}  // namespace treadle
