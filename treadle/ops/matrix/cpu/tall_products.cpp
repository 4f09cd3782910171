#include "treadle/ops/matrix/cpu/tall_products.h"

#include <algorithm>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "treadle/ops/matrix/cpu/tall_products.cpp"
#include "treadle/simd/targets.h"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#ifndef TREADLE_CPU_TALL_PRODUCTS_ONCE
#define TREADLE_CPU_TALL_PRODUCTS_ONCE
namespace treadle::cpu {

// What a pass works on lies densely in scratch: rows that are a power of two apart would share few lines of
// L1.
constexpr int64_t kDepth = 64;         ///< terms of a pass
constexpr int64_t kRows = 96;          ///< rows of aᵀ that stay in L1, beside a strip of b
constexpr int64_t kColumns = 256;      ///< of b, whose strips stay in L2
constexpr int64_t kLargestStrip = 64;  ///< floats across a register tile of the widest vectors

}  // namespace treadle::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace treadle::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::ScalableTag<float>;
using Vector = hn::Vec<Floats>;
constexpr int64_t kLanes = int64_t(hn::MaxLanes(Floats{}));
constexpr int kTileRows = 6;
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL || HWY_TARGET == HWY_NEON
constexpr int kStripVectors = 4;  // 24 of 32 registers hold sums
#else
constexpr int kStripVectors = 2;  // 12 of 16
#endif
constexpr int64_t kStrip = kStripVectors * kLanes;
static_assert(kStrip <= kLargestStrip && kColumns % kStrip == 0);

/// The terms of a pass, of which a tile takes some rows of aᵀ and a strip of b.
struct TallPass {
  int64_t depth;
  const float* a;
  int64_t a_row, a_column;  ///< steps to the next term, to the next row of aᵀ
  const float* b;
  int64_t b_row;
  float* c;
  int64_t c_row;
  bool first;
};

/// Rows × Vectors vectors of c.
template <int Rows, int Vectors>
HWY_INLINE void multiply_tall_tile(const TallPass& p) {
  const Floats d;
  Vector sums[Rows][Vectors];
#pragma GCC unroll 8
  for (int i = 0; i < Rows; ++i)
#pragma GCC unroll 4
    for (int j = 0; j < Vectors; ++j)
      sums[i][j] = p.first ? hn::Zero(d) : hn::Load(d, p.c + i * p.c_row + j * kLanes);
  const float *HWY_RESTRICT a = p.a, *HWY_RESTRICT b = p.b;
  for (int64_t k = 0; k < p.depth; ++k, a += p.a_row, b += p.b_row) {
    Vector row[Vectors];
#pragma GCC unroll 4
    for (int j = 0; j < Vectors; ++j) row[j] = hn::LoadU(d, b + j * kLanes);
#pragma GCC unroll 8
    for (int i = 0; i < Rows; ++i) {
      const Vector factor = hn::Set(d, a[i * p.a_column]);
#pragma GCC unroll 4
      for (int j = 0; j < Vectors; ++j) sums[i][j] = hn::MulAdd(factor, row[j], sums[i][j]);
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < Rows; ++i)
#pragma GCC unroll 4
    for (int j = 0; j < Vectors; ++j) hn::Store(sums[i][j], d, p.c + i * p.c_row + j * kLanes);
}

/// All rows of a strip of c.
template <int Vectors>
void multiply_tall_strip(TallPass p, int64_t rows) {
  auto cover = [&](auto count) HWY_ATTR {
    constexpr int kRows = decltype(count)::value;
    for (; rows >= kRows; rows -= kRows, p.a += kRows * p.a_column, p.c += kRows * p.c_row)
      multiply_tall_tile<kRows, Vectors>(p);
  };
  cover(std::integral_constant<int, kTileRows>{});
  cover(std::integral_constant<int, 2>{});
  cover(std::integral_constant<int, 1>{});
}

void multiply_tall_strip(const TallPass& p, int64_t rows, int64_t vectors) {
  if (vectors == 1) return multiply_tall_strip<1>(p, rows);
  if constexpr (kStripVectors > 2) {
    if (vectors == 3) return multiply_tall_strip<3>(p, rows);
    if (vectors == 4) return multiply_tall_strip<4>(p, rows);
  }
  multiply_tall_strip<2>(p, rows);
}

/// Copies `columns` columns of b's rows, filled up with zeros to whole vectors, `padded` floats a row.
void pack_strip(const TallPass& p, int64_t columns, int64_t padded, float* HWY_RESTRICT out) {
  for (int64_t k = 0; k < p.depth; ++k, out += padded) {
    std::copy_n(p.b + k * p.b_row, columns, out);
    std::fill_n(out + columns, padded - columns, 0.0f);
  }
}

/// Copies `rows` rows of aᵀ, those of a term side by side.
void pack_rows(const TallPass& p, int64_t rows, float* HWY_RESTRICT out) {
  for (int64_t k = 0; k < p.depth; ++k, out += rows)
    if (p.a_column == 1)
      std::copy_n(p.a + k * p.a_row, rows, out);
    else
      for (int64_t i = 0; i < rows; ++i) out[i] = p.a[k * p.a_row + i * p.a_column];
}

/// Of the strip that begins with so many columns left: whole vectors.
int64_t strip_width(int64_t columns) { return (std::min(kStrip, columns) + kLanes - 1) / kLanes * kLanes; }

/// At most kDepth terms and kColumns columns.
void multiply_tall_pass(TallPass pass, int64_t rows, int64_t columns, float* scratch) {
  float *packed_a = scratch, *packed_b = scratch + kDepth * kRows;
  TallPass strip = pass;
  for (int64_t j = 0; j < columns; j += kStrip, strip.b += kStrip)
    pack_strip(strip, std::min(kStrip, columns - j), strip_width(columns - j), packed_b + j * kDepth);
  for (int64_t i = 0; i < rows; i += kRows, pass.a += kRows * pass.a_column, pass.c += kRows * pass.c_row) {
    const int64_t own = std::min(kRows, rows - i);
    pack_rows(pass, own, packed_a);
    for (int64_t j = 0; j < columns; j += kStrip) {
      const int64_t width = strip_width(columns - j), inside = std::min(kStrip, columns - j);
      multiply_tall_strip(
          {pass.depth, packed_a, own, 1, packed_b + j * kDepth, width, pass.c + j, pass.c_row, pass.first},
          own, (inside + kLanes - 1) / kLanes);
    }
  }
}

void multiply_tall(const TallProduct& t, float* scratch) {
  const int64_t c_row = padded_columns(t.N);
  for (int64_t k = 0; k == 0 || k < t.K; k += kDepth)
    for (int64_t j = 0; j < t.N; j += kColumns)
      multiply_tall_pass({std::min(kDepth, t.K - k), t.a + k * t.a_row, t.a_row, t.a_column,
                          t.b + k * t.b_row + j, t.b_row, t.c + j, c_row, k == 0},
                         t.M, std::min(kColumns, t.N - j), scratch);
}

/// Vectors of columns from `j` on, as many as there are.
template <int Vectors>
HWY_INLINE void sum_columns(int64_t rows, int64_t columns, const float* from, int64_t row, float* out,
                            int64_t& j) {
  const Floats d;
  for (; j + Vectors * kLanes <= columns; j += Vectors * kLanes) {
    Vector sums[Vectors];
#pragma GCC unroll 4
    for (int v = 0; v < Vectors; ++v) sums[v] = hn::Zero(d);
    for (int64_t r = 0; r < rows; ++r)
#pragma GCC unroll 4
      for (int v = 0; v < Vectors; ++v)
        sums[v] = hn::Add(sums[v], hn::LoadU(d, from + r * row + j + v * kLanes));
#pragma GCC unroll 4
    for (int v = 0; v < Vectors; ++v) hn::StoreU(sums[v], d, out + j + v * kLanes);
  }
}

void sum_rows(int64_t rows, int64_t columns, const float* from, int64_t row, float* out) {
  int64_t j = 0;
  sum_columns<kStripVectors>(rows, columns, from, row, out, j);
  sum_columns<1>(rows, columns, from, row, out, j);
  for (; j < columns; ++j) {
    float sum = 0;
    for (int64_t r = 0; r < rows; ++r) sum += from[r * row + j];
    out[j] = sum;
  }
}

}  // namespace treadle::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace treadle::cpu {
namespace {

HWY_EXPORT(multiply_tall);
HWY_EXPORT(sum_rows);

}  // namespace

int64_t padded_columns(int64_t columns) { return (columns + 15) / 16 * 16; }

int64_t tall_scratch() { return kDepth * (kRows + kColumns + kLargestStrip); }

void multiply_tall(const TallProduct& product, float* scratch) {
  HWY_DYNAMIC_DISPATCH(multiply_tall)(product, scratch);
}

void sum_rows(int64_t rows, int64_t columns, const float* from, int64_t row, float* out) {
  HWY_DYNAMIC_DISPATCH(sum_rows)(rows, columns, from, row, out);
}

}  // namespace treadle::cpu
#endif
