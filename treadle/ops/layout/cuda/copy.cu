/// Copies on a device: a general strided kernel, and transpositions through shared memory.
#include "treadle/ops/layout/cuda/copy_elements.cuh"
#include "treadle/ops/layout/transpose_plan.h"

namespace treadle::TREADLE_TARGET {
namespace {

constexpr int kTile = 32, kTileRows = 8;  ///< a block of 32 × 8 threads moves a tile of 32 × 32 elements
constexpr int64_t kMostBlocks = 1 << 10;  // as many as run at a time, or nearly; each takes several tiles

/// One thread per element of y, any strides; reads and writes it once.
template <class Word>
__global__ void copy_naive(Strided<2> nest, const Word* x, Word* y) {
  int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= nest.numel) return;
  int64_t o[2];
  nest.offsets(i, o);
  y[o[0]] = x[o[1]];
}

/// One block per tile of y[b][r][c] = x[b][c][r]. Neighbouring threads read neighbours of x and write
/// neighbours of y; the tile turns in shared memory, whose rows are one element longer so that a column meets
/// no bank twice.
template <class Word>
__global__ void copy_tiled(TransposePlan plan, const Word* x, Word* y) {
  __shared__ Word tile[kTile][kTile + 1];
  const int64_t row_tiles = (plan.rows + kTile - 1) / kTile,
                column_tiles = (plan.columns + kTile - 1) / kTile;
  const int64_t tiles = plan.batch.numel * row_tiles * column_tiles;
  for (int64_t t = blockIdx.x; t < tiles; t += gridDim.x) {
    const int64_t column = t % column_tiles * kTile, row = t / column_tiles % row_tiles * kTile;
    int64_t o[2];
    plan.batch.offsets(t / column_tiles / row_tiles, o);
    for (int j = threadIdx.y; j < kTile; j += blockDim.y) {
      const int64_t r = row + threadIdx.x, c = column + j;
      if (r < plan.rows && c < plan.columns) tile[j][threadIdx.x] = x[o[1] + c * plan.x_stride + r];
    }
    __syncthreads();
    for (int j = threadIdx.y; j < kTile; j += blockDim.y) {
      const int64_t r = row + j, c = column + threadIdx.x;
      if (r < plan.rows && c < plan.columns) y[o[0] + r * plan.y_stride + c] = tile[threadIdx.x][j];
    }
    __syncthreads();
  }
}

/// One thread per element of y.
template <class Word>
__global__ void fill_naive(Strided<1> nest, Word value, Word* y) {
  int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= nest.numel) return;
  int64_t o[1];
  nest.offsets(i, o);
  y[o[0]] = value;
}

void copy_strided(stream_t stream, const TensorView& target, const TensorView& source) {
  auto nest = make_strided<2>(target, {&source, 1});
  with_word_type(target.dtype, [&](auto tag) {
    using Word = typename decltype(tag)::type;
    launch<copy_naive<Word>, independent>(stream, blocks_for(nest.numel), kThreads, 0, nest,
                                          source.as<const Word>(), target.as<Word>());
  });
}

void copy_transposed(stream_t stream, const TensorView& target, const TensorView& source,
                     const TransposePlan& plan) {
  int64_t tiles = plan.batch.numel * blocks_for(plan.rows, kTile) * blocks_for(plan.columns, kTile);
  with_word_type(target.dtype, [&](auto tag) {
    using Word = typename decltype(tag)::type;
    launch<copy_tiled<Word>>(stream, unsigned(std::min(tiles, kMostBlocks)), dim3(kTile, kTileRows), 0, plan,
                             source.as<const Word>(), target.as<Word>());
  });
}

/// The source is the last input of both ops: copy(x) and copy_into(target, source).
const TensorView& source_of(const Call& call) { return call.inputs.back(); }

bool is_transposition(const Call& call) { return plan_transpose(call.output(), source_of(call)).has_value(); }
void run_naive(const Call& call) { copy_strided(stream_of(call), call.output(), source_of(call)); }
void run_tiled(const Call& call) {
  copy_transposed(stream_of(call), call.output(), source_of(call),
                  *plan_transpose(call.output(), source_of(call)));
}

}  // namespace

void copy_elements(stream_t stream, const TensorView& target, const TensorView& source) {
  if (target.numel() == 0) return;
  if (auto plan = plan_transpose(target, source))
    copy_transposed(stream, target, source, *plan);
  else
    copy_strided(stream, target, source);
}

void fill_elements(stream_t stream, const TensorView& target, uint64_t bits) {
  if (target.numel() == 0) return;
  auto nest = make_strided<1>(target, {});
  with_word_type(target.dtype, [&](auto tag) {
    using Word = typename decltype(tag)::type;
    launch<fill_naive<Word>, independent>(stream, blocks_for(nest.numel), kThreads, 0, nest, Word(bits),
                                          target.as<Word>());
  });
}

void register_layout_cuda_copy(Registry& registry) {
  for (const char* op : {"copy", "copy_into"}) {
    add_variant(registry, op, {.name = "naive", .device = kDevice, .run = run_naive});
    add_variant(
        registry, op,
        {.name = "tiled", .device = kDevice, .run = run_tiled, .when = is_transposition, .preference = 1});
  }
}

}  // namespace treadle::TREADLE_TARGET
