/// The tiles of a and b for some steps along K, copied to shared memory in the background while a block
/// computes with others; for products of floats whose rows are whole quads (has_wide_rows_of_floats).
#pragma once

#include "treadle/ops/matrix/cuda/float_patch.cuh"

namespace treadle::TREADLE_TARGET {

/// That of a lies turned, its columns exchanged so that no two lanes that copy meet in a bank: a warp copies
/// kDepth / 4 quads of each of 128 / kDepth rows, and those of one row are 128 / kDepth banks apart.
template <int kRows, int kColumns, int kDepth>
struct FloatStage {
  float a[kDepth][kRows];
  float b[kDepth][kColumns];

  /// By what the columns of row `depth` of a are exchanged.
  __device__ static constexpr int swizzle(int depth) { return depth / 4 * (128 / kDepth); }

  /// Begins to copy steps k, k + 1, …; all threads of the block take part. A piece of a that is turned is
  /// copied word by word, as cp.async keeps the order of what it moves.
  __device__ void fetch(const MatrixProduct& p, const Matrices<float>& x, const TileGrid& grid, int64_t k) {
    for (int i = int(threadIdx.x); i < kRows * kDepth / 4; i += int(blockDim.x)) {
      const int row = i / (kDepth / 4), depth = i % (kDepth / 4) * 4;
      const int64_t m = grid.row() + row;
      const bool inside = m < p.M && k + depth < p.K;
      UNROLL(4) for (int j = 0; j < 4; ++j) {
        float* target = &a[depth + j][row ^ swizzle(depth)];
        if (inside)
          copy_async<4>(target, x.a + m * p.a_row + k + depth + j);
        else
          *target = 0;
      }
    }
    for (int i = int(threadIdx.x); i < kDepth * kColumns / 4; i += int(blockDim.x)) {
      const int depth = i / (kColumns / 4), column = i % (kColumns / 4) * 4;
      const int64_t n = grid.column() + column;
      if (n < p.N && k + depth < p.K)
        copy_async<16>(&b[depth][column], x.b + (k + depth) * p.b_row + n);
      else
        quad_at(&b[depth][column]) = make_float4(0, 0, 0, 0);
    }
    copy_async_commit();
  }

  __device__ void add_products(FloatPatch& sums, const PatchPlace& at) const {
    UNROLL(8) for (int d = 0; d < kDepth; ++d) {
      const PatchPlace stored{{at.row[0] ^ swizzle(d), at.row[1] ^ swizzle(d)}, {at.column[0], at.column[1]}};
      add_outer_product(sums, a[d], b[d], stored);
    }
  }

  /// Adds all products of a tile of c to a thread's patch, with two stages in turn: while one is multiplied,
  /// the other arrives. One barrier for each: behind it the stage has arrived for all, and the other has been
  /// read by all.
  __device__ static void add_all_products(FloatPatch& sums, const PatchPlace& at, FloatStage (&stages)[2],
                                          const MatrixProduct& p, const TileGrid& grid) {
    const Matrices<float> x(p, grid.batch());
    stages[0].fetch(p, x, grid, 0);
    int now = 0;
    for (int64_t k = 0; k < p.K; k += kDepth, now ^= 1) {
      copy_async_wait<0>();
      __syncthreads();
      if (k + kDepth < p.K) stages[now ^ 1].fetch(p, x, grid, k + kDepth);
      stages[now].add_products(sums, at);
    }
  }
};

}  // namespace treadle::TREADLE_TARGET
