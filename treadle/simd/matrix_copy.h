/// Copies of matrices in SIMD instructions chosen at run time, transposed or not. Matrices are row-major, and
/// steps between their rows are in elements; out must not overlap in.
#pragma once

#include <cstdint>

namespace treadle::cpu {

/// out[j][i] = in[i][j] for `rows` × `columns` elements of in.
void transpose(int64_t rows, int64_t columns, const float* in, int64_t in_step, float* out, int64_t out_step);
void transpose(int64_t rows, int64_t columns, const uint8_t* in, int64_t in_step, uint8_t* out,
               int64_t out_step);

/// out[i][j] = in[i][j]: for rows of a vector each, or few elements.
void copy_rows(int64_t rows, int64_t columns, const float* in, int64_t in_step, float* out, int64_t out_step);

}  // namespace treadle::cpu
