// Goto's scheme: panels of a and b are packed so that a small register tile reads both in order.
// Goto and van de Geijn, Anatomy of High-Performance Matrix Multiplication, 2008.
#include "treadle/simd/gemm.h"

#include <hwy/aligned_allocator.h>

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "treadle/simd/gemm.cpp"
#include "treadle/simd/targets.h"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#ifndef TREADLE_SIMD_GEMM_ONCE
#define TREADLE_SIMD_GEMM_ONCE
namespace treadle::cpu {

/// A block of a row-major matrix or of its transpose: element (i, j) is data[i·rows + j·columns].
struct Block {
  const float* data;
  int64_t row_step, column_step;
  Block at(int64_t i, int64_t j) const {
    return {data + i * row_step + j * column_step, row_step, column_step};
  }
  Block transposed() const { return {data, column_step, row_step}; }
};

struct Target {
  float* data;
  int64_t row_step;
  Target at(int64_t i, int64_t j) const { return {data + i * row_step + j, row_step}; }
};

struct Product {
  int64_t m, n, k;
  Block a, b;
  Target c;
  bool accumulate;
  float *packed_a, *packed_b;
};

constexpr int64_t kDepth = 256;  ///< terms summed per pass: a panel of b (kDepth · tile width) stays in L1
constexpr int64_t kRows = 96;    ///< rows of a per pass: kRows · kDepth floats stay in L2
constexpr int64_t kColumns = 1024;  ///< columns of b per pass: kDepth · kColumns floats stay in L3
constexpr int64_t kLargestPanel = 64;

constexpr int64_t padded(int64_t count, int64_t step) { return (count + step - 1) / step * step; }

}  // namespace treadle::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace treadle::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::ScalableTag<float>;
constexpr int kVectors = 2;  ///< vectors across a register tile
constexpr int64_t kTileColumns = kVectors * int64_t(hn::MaxLanes(Floats{}));
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL || HWY_TARGET == HWY_NEON
constexpr int64_t kTileRows = 12;  // 24 of 32 registers hold sums
#else
constexpr int64_t kTileRows = 6;  // 12 of 16
#endif
static_assert(kRows % kTileRows == 0 && kColumns % kTileColumns == 0 && kTileColumns <= kLargestPanel);

/// Copies `count` rows of a block, `depth` columns each, into panels of `Width` rows:
/// out[panel][column][row], zero-filled.
template <int64_t Width>
void pack(Block block, int64_t count, int64_t depth, float* HWY_RESTRICT out) {
  for (int64_t first = 0; first < count; first += Width, out += Width * depth) {
    const Block panel = block.at(first, 0);
    const int64_t rows = std::min(Width, count - first);
    if (rows < Width) std::fill(out, out + Width * depth, 0.0f);
    if (rows == Width && panel.row_step == 1) {
      for (int64_t p = 0; p < depth; ++p)
        for (int64_t i = 0; i < Width; ++i) out[p * Width + i] = panel.data[p * panel.column_step + i];
    } else {
      for (int64_t i = 0; i < rows; ++i)
        for (int64_t p = 0; p < depth; ++p)
          out[p * Width + i] = panel.data[i * panel.row_step + p * panel.column_step];
    }
  }
}

/// One register tile: c (+)= Σ_p a[p][:] ⊗ b[p][:].
HWY_INLINE void multiply_tile(int64_t depth, const float* HWY_RESTRICT a, const float* HWY_RESTRICT b,
                              Target c, bool accumulate) {
  const Floats d;
  const int64_t lanes = int64_t(hn::MaxLanes(d));
  hn::Vec<Floats> sums[kTileRows][kVectors];
#pragma GCC unroll 16
  for (int64_t i = 0; i < kTileRows; ++i)
#pragma GCC unroll 2
    for (int j = 0; j < kVectors; ++j)
      sums[i][j] = accumulate ? hn::LoadU(d, c.data + i * c.row_step + j * lanes) : hn::Zero(d);
  for (int64_t p = 0; p < depth; ++p, a += kTileRows, b += kTileColumns) {
    const auto b0 = hn::Load(d, b), b1 = hn::Load(d, b + lanes);
#pragma GCC unroll 16
    for (int64_t i = 0; i < kTileRows; ++i) {
      const auto ai = hn::Set(d, a[i]);
      sums[i][0] = hn::MulAdd(ai, b0, sums[i][0]);
      sums[i][1] = hn::MulAdd(ai, b1, sums[i][1]);
    }
  }
#pragma GCC unroll 16
  for (int64_t i = 0; i < kTileRows; ++i)
#pragma GCC unroll 2
    for (int j = 0; j < kVectors; ++j) hn::StoreU(sums[i][j], d, c.data + i * c.row_step + j * lanes);
}

/// A tile that sticks out of c, by way of a full one.
void multiply_edge_tile(int64_t rows, int64_t columns, int64_t depth, const float* a, const float* b,
                        Target c, bool accumulate) {
  HWY_ALIGN float full[kTileRows * kTileColumns];
  multiply_tile(depth, a, b, {full, kTileColumns}, false);
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j) {
      float& target = c.data[i * c.row_step + j];
      target = accumulate ? target + full[i * kTileColumns + j] : full[i * kTileColumns + j];
    }
}

void multiply_packed(int64_t rows, int64_t columns, int64_t depth, const float* a, const float* b, Target c,
                     bool accumulate) {
  for (int64_t j = 0; j < columns; j += kTileColumns)
    for (int64_t i = 0; i < rows; i += kTileRows) {
      const float *panel_a = a + i * depth, *panel_b = b + j * depth;
      if (i + kTileRows <= rows && j + kTileColumns <= columns)
        multiply_tile(depth, panel_a, panel_b, c.at(i, j), accumulate);
      else
        multiply_edge_tile(std::min(kTileRows, rows - i), std::min(kTileColumns, columns - j), depth, panel_a,
                           panel_b, c.at(i, j), accumulate);
    }
}

void multiply(const Product& product) {
  for (int64_t j = 0; j < product.n; j += kColumns) {
    const int64_t columns = std::min(kColumns, product.n - j);
    for (int64_t p = 0; p < product.k; p += kDepth) {
      const int64_t depth = std::min(kDepth, product.k - p);
      pack<kTileColumns>(product.b.at(p, j).transposed(), columns, depth, product.packed_b);
      for (int64_t i = 0; i < product.m; i += kRows) {
        const int64_t rows = std::min(kRows, product.m - i);
        pack<kTileRows>(product.a.at(i, p), rows, depth, product.packed_a);
        multiply_packed(rows, columns, depth, product.packed_a, product.packed_b, product.c.at(i, j),
                        product.accumulate || p > 0);
      }
    }
  }
}

}  // namespace treadle::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace treadle::cpu {
namespace {

HWY_EXPORT(multiply);

/// Each thread's packing memory, kept between calls.
struct PackingBuffers {
  hwy::AlignedFreeUniquePtr<float[]> a = hwy::AllocateAligned<float>(kRows * kDepth);
  hwy::AlignedFreeUniquePtr<float[]> b = hwy::AllocateAligned<float>(kColumns * kDepth);
};

void set_zero(int64_t m, int64_t n, Target c) {
  for (int64_t i = 0; i < m; ++i) std::fill_n(c.at(i, 0).data, n, 0.0f);
}

}  // namespace

void gemm(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k, const float* a, int64_t lda,
          const float* b, int64_t ldb, float* c, int64_t ldc, bool accumulate) {
  if (m == 0 || n == 0) return;
  static thread_local PackingBuffers buffers;
  Block block_a{a, lda, 1}, block_b{b, ldb, 1};
  if (transpose_a) block_a = block_a.transposed();
  if (transpose_b) block_b = block_b.transposed();
  if (k == 0 && !accumulate) set_zero(m, n, {c, ldc});
  HWY_DYNAMIC_DISPATCH(multiply)
  ({m, n, k, block_a, block_b, {c, ldc}, accumulate, buffers.a.get(), buffers.b.get()});
}

}  // namespace treadle::cpu
#endif
