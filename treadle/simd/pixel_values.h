/// Bytes of pixels as floats, and their normalisation, in SIMD instructions chosen at run time. All
/// instruction sets give the bits of the formulas, each operation rounded once. out must not overlap in.
#pragma once

#include <cstdint>

namespace treadle::cpu {

/// in / 255
void pixel_values(const uint8_t* in, float* out, int64_t count);
/// (in / 255 - mean) / deviation
void normalized_pixels(const uint8_t* in, float* out, int64_t count, float mean, float deviation);
/// (in - mean) / deviation
void normalized_values(const float* in, float* out, int64_t count, float mean, float deviation);

}  // namespace treadle::cpu
