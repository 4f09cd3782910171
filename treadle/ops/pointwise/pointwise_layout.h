/// The shape and layout a pointwise op's output takes.
#pragma once

#include "treadle/graph/spec.h"

namespace treadle {

/// The broadcast shape, laid out as the first dense operand of that shape, else row-major.
TensorSpec pointwise_output(const char* op, Specs inputs, DType dtype);

}  // namespace treadle
