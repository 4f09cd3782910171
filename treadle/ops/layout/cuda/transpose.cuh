/// Copies that are transpositions, through shared memory.
#pragma once

#include <algorithm>

#include "treadle/ops/layout/cuda/copy_elements.cuh"
#include "treadle/ops/layout/transpose_plan.h"

namespace treadle::TREADLE_TARGET {

/// A block of 32 × 8 threads moves a tile of 32 × 32 elements.
inline constexpr int kTransposedTile = 32, kTransposedRows = 8;
/// As many as run at a time, or nearly; each takes several tiles.
inline constexpr int64_t kMostTransposingBlocks = 1 << 10;

/// One element: a column of the tile then lies in 32 different banks.
inline constexpr int kWithoutConflicts = 1;

/// One block per tile of y[b][r][c] = x[b][c][r]. Neighbouring threads read neighbours of x and write
/// neighbours of y; the tile turns in shared memory, whose rows are kPadding elements longer than the tile.
template <int kPadding, class Word>
__global__ void copy_tiled(TransposePlan plan, const Word* x, Word* y) {
  __shared__ Word tile[kTransposedTile][kTransposedTile + kPadding];
  const int64_t row_tiles = (plan.rows + kTransposedTile - 1) / kTransposedTile,
                column_tiles = (plan.columns + kTransposedTile - 1) / kTransposedTile;
  const int64_t tiles = plan.batch.numel * row_tiles * column_tiles;
  for (int64_t t = blockIdx.x; t < tiles; t += gridDim.x) {
    const int64_t column = t % column_tiles * kTransposedTile,
                  row = t / column_tiles % row_tiles * kTransposedTile;
    int64_t o[2];
    plan.batch.offsets(t / column_tiles / row_tiles, o);
    for (int j = threadIdx.y; j < kTransposedTile; j += blockDim.y) {
      const int64_t r = row + threadIdx.x, c = column + j;
      if (r < plan.rows && c < plan.columns) tile[j][threadIdx.x] = x[o[1] + c * plan.x_stride + r];
    }
    __syncthreads();
    for (int j = threadIdx.y; j < kTransposedTile; j += blockDim.y) {
      const int64_t r = row + j, c = column + threadIdx.x;
      if (r < plan.rows && c < plan.columns) y[o[0] + r * plan.y_stride + c] = tile[threadIdx.x][j];
    }
    __syncthreads();
  }
}

template <int kPadding>
void copy_transposed(stream_t stream, const TensorView& target, const TensorView& source,
                     const TransposePlan& plan) {
  const int64_t tiles =
      plan.batch.numel * blocks_for(plan.rows, kTransposedTile) * blocks_for(plan.columns, kTransposedTile);
  with_word_type(target.dtype, [&](auto tag) {
    using Word = typename decltype(tag)::type;
    launch<copy_tiled<kPadding, Word>>(stream, unsigned(std::min(tiles, kMostTransposingBlocks)),
                                       dim3(kTransposedTile, kTransposedRows), 0, plan,
                                       source.as<const Word>(), target.as<Word>());
  });
}

/// The source is the last input of both ops: copy(x) and copy_into(target, source).
inline const TensorView& source_of(const Call& call) { return call.inputs.back(); }

inline bool is_transposition(const Call& call) {
  return plan_transpose(call.output(), source_of(call)).has_value();
}

template <int kPadding>
void run_transposition(const Call& call) {
  copy_transposed<kPadding>(stream_of(call), call.output(), source_of(call),
                            *plan_transpose(call.output(), source_of(call)));
}

inline void add_copy_variants(Registry& registry, const Variant& variant) {
  for (const char* op : {"copy", "copy_into"}) add_variant(registry, op, variant);
}

}  // namespace treadle::TREADLE_TARGET
