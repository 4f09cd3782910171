/// Rows of half types as floats, and back: loops over floats then serve the half types too.
#pragma once

#include <cstdint>

#include "treadle/core/dtype.h"

namespace treadle {

/// y[i] = float(x[i * step]) of `count` elements of f16 or bf16.
void halves_to_floats(DType half, const void* x, int64_t step, float* y, int64_t count);

/// y[i * step] = x[i], rounded to f16 or bf16, to nearest even.
void floats_to_halves(DType half, const float* x, void* y, int64_t step, int64_t count);

}  // namespace treadle
