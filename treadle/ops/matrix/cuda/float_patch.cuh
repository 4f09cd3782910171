/// A thread's 8×8 results, as two quads of rows by two quads of columns, for products of floats whose rows
/// are whole quads (has_wide_rows_of_floats).
#pragma once

#include "treadle/ops/matrix/cuda/matrices.cuh"

namespace treadle::TREADLE_TARGET {

inline constexpr int kPatch = 8;  ///< rows and columns of a thread

/// Where the quads of a patch begin within the block's tile.
struct PatchPlace {
  int row[2], column[2];
};

using FloatPatch = float[kPatch][kPatch];

__device__ inline float4& quad_at(float* address) { return *reinterpret_cast<float4*>(address); }
__device__ inline float4 quad_at(const float* address) { return *reinterpret_cast<const float4*>(address); }

/// The quad at `address`, or zeros where it is outside.
__device__ inline float4 quad_or_zeros(const float* address, bool inside) {
  return inside ? quad_at(address) : make_float4(0, 0, 0, 0);
}

/// Adds one step along K: `a` is a column of the tile of a, `b` a row of the tile of b. Four reads of 16
/// bytes for 64 products.
__device__ inline void add_outer_product(FloatPatch& sums, const float* a, const float* b,
                                         const PatchPlace& at) {
  const float4 a_quads[2] = {quad_at(a + at.row[0]), quad_at(a + at.row[1])};
  const float4 b_quads[2] = {quad_at(b + at.column[0]), quad_at(b + at.column[1])};
  const float rows[kPatch] = {a_quads[0].x, a_quads[0].y, a_quads[0].z, a_quads[0].w,
                              a_quads[1].x, a_quads[1].y, a_quads[1].z, a_quads[1].w};
  const float columns[kPatch] = {b_quads[0].x, b_quads[0].y, b_quads[0].z, b_quads[0].w,
                                 b_quads[1].x, b_quads[1].y, b_quads[1].z, b_quads[1].w};
  UNROLL(8) for (int i = 0; i < kPatch; ++i) {
    UNROLL(8) for (int j = 0; j < kPatch; ++j) sums[i][j] += rows[i] * columns[j];
  }
}

/// c = sums + bias, 16 bytes at a time, as far as c goes.
__device__ inline void store_patch(const MatrixProduct& p, const TileGrid& grid, const FloatPatch& sums,
                                   const PatchPlace& at) {
  const Matrices<float> x(p, grid.batch());
  UNROLL(2) for (int half = 0; half < 2; ++half) {
    const int64_t n = grid.column() + at.column[half];
    if (n >= p.N) continue;
    float bias[4];
    UNROLL(4) for (int j = 0; j < 4; ++j) bias[j] = bias_of(x.bias, (n + j) * p.bias_step);
    UNROLL(8) for (int i = 0; i < kPatch; ++i) {
      const int64_t m = grid.row() + at.row[i / 4] + i % 4;
      const float* sum = sums[i] + 4 * half;
      if (m < p.M)
        quad_at(x.c + m * p.c_row + n) =
            make_float4(sum[0] + bias[0], sum[1] + bias[1], sum[2] + bias[2], sum[3] + bias[3]);
    }
  }
}

}  // namespace treadle::TREADLE_TARGET
