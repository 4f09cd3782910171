/// The check of a typed function that looks at an operand before apply() does.
#pragma once

#include "treadle/core/error.h"
#include "treadle/core/tensor.h"

namespace treadle {

/// Throws ValueError naming the function and the operand, counted from 1, in apply()'s words.
inline void require_defined(const char* function, const Tensor& operand, int number = 1) {
  require<ValueError>(operand.defined(), "{}: operand {} is undefined", function, number);
}

}  // namespace treadle
