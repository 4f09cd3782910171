#include "treadle/ops/attention/cpu/head_products.h"

#include <algorithm>
#include <cmath>

#include "treadle/core/work.h"
#include "treadle/simd/matrix_copy.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "treadle/ops/attention/cpu/head_products.cpp"
#include "treadle/simd/targets.h"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "treadle/simd/exp-inl.h"

HWY_BEFORE_NAMESPACE();
namespace treadle::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::CappedTag<float, kPanel>;
constexpr int64_t kLanes = int64_t(hn::MaxLanes(Floats{}));
constexpr int64_t kVectors = kPanel / kLanes;  ///< of a panel's row
/// A tile's sums take 24 of 32 registers with AVX-512, 12 of 16 with AVX2 and SSE4.
constexpr int64_t kTileRows = kLanes == 16 ? 12 : kLanes == 8 ? 6 : kLanes == 4 ? 3 : 1;
constexpr int64_t kTilePanels = kLanes == 16 ? 2 : 1;

/// One register tile: R rows of c in P panels.
template <int R, int P>
HWY_INLINE void multiply_tile(int64_t depth, HeadMatrix a, Panels b, float* HWY_RESTRICT c, int64_t c_step,
                              bool accumulate) {
  constexpr int V = P * int(kVectors);
  const Floats d;
  hn::Vec<Floats> sums[R][V];
#pragma GCC unroll 16
  for (int i = 0; i < R; ++i)
#pragma GCC unroll 16
    for (int j = 0; j < V; ++j)
      sums[i][j] = accumulate ? hn::LoadU(d, c + i * c_step + j * kLanes) : hn::Zero(d);
  for (int64_t p = 0; p < depth; ++p, a.data += a.column_step, b.data += kPanel) {
    hn::Vec<Floats> row[V];
#pragma GCC unroll 16
    for (int j = 0; j < V; ++j) row[j] = hn::LoadU(d, b.data + j / kVectors * b.step + j % kVectors * kLanes);
#pragma GCC unroll 16
    for (int i = 0; i < R; ++i) {
      const auto factor = hn::Set(d, a.data[i * a.row_step]);
#pragma GCC unroll 16
      for (int j = 0; j < V; ++j) sums[i][j] = hn::MulAdd(factor, row[j], sums[i][j]);
    }
  }
#pragma GCC unroll 16
  for (int i = 0; i < R; ++i)
#pragma GCC unroll 16
    for (int j = 0; j < V; ++j) hn::StoreU(sums[i][j], d, c + i * c_step + j * kLanes);
}

/// A tile of up to R rows.
template <int R, int P>
HWY_INLINE void multiply_rows(int64_t rows, int64_t depth, HeadMatrix a, Panels b, float* c, int64_t c_step,
                              bool accumulate) {
  if constexpr (R > 1)
    if (rows < R) return multiply_rows<R - 1, P>(rows, depth, a, b, c, c_step, accumulate);
  multiply_tile<R, P>(depth, a, b, c, c_step, accumulate);
}

/// Tiles of as equal numbers of rows as there are: few rows leave registers without work.
template <int P>
void multiply_column(int64_t rows, int64_t depth, HeadMatrix a, Panels b, float* c, int64_t c_step,
                     bool accumulate) {
  const Cut tiles(rows, (rows + kTileRows - 1) / kTileRows);
  for (int64_t t = 0; t < tiles.parts(); ++t) {
    const Range range = tiles[t];
    multiply_rows<kTileRows, P>(range.size(), depth, a.from_row(range.begin), b, c + range.begin * c_step,
                                c_step, accumulate);
  }
}

void multiply_panels(int64_t rows, int64_t depth, HeadMatrix a, Panels b, float* c, int64_t c_step,
                     bool accumulate) {
  for (; b.count >= kTilePanels; b.count -= kTilePanels, b.data += kTilePanels * b.step)
    multiply_column<kTilePanels>(rows, depth, a, b, c, c_step, accumulate), c += kTilePanels * kPanel;
  if (b.count > 0) multiply_column<1>(rows, depth, a, b, c, c_step, accumulate);
}

/// row = scale · row + mask where keys are seen.
HWY_INLINE void add_mask(HeadMatrix mask, float scale, int64_t seen, float* HWY_RESTRICT row) {
  for (int64_t j = 0; j < seen; ++j) row[j] = row[j] * scale + mask.data[j * mask.column_step];
}

/// row = scale · row where keys are seen, -∞ behind; returns the largest, where NaN may be passed over.
HWY_INLINE float scale_scores(float scale, int64_t seen, int64_t step, float* HWY_RESTRICT row) {
  const Floats d;
  const auto factor = hn::Set(d, scale), hidden = hn::Set(d, -HUGE_VALF);
  auto largest = hidden;
  int64_t j = 0;
  auto scale_vector = [&](auto value) HWY_ATTR {
    hn::StoreU(value, d, row + j);
    largest = hn::Max(value, largest);
  };
  for (; j + kLanes <= seen; j += kLanes) scale_vector(hn::Mul(hn::LoadU(d, row + j), factor));
  for (; j < step; j += kLanes) {
    const auto is_seen = hn::FirstN(d, size_t(std::max<int64_t>(seen - j, 0)));
    scale_vector(hn::IfThenElse(is_seen, hn::Mul(hn::LoadU(d, row + j), factor), hidden));
  }
  return hn::GetLane(hn::MaxOfLanes(d, largest));
}

/// row = e^(row - largest); returns the sum.
HWY_INLINE float exponentiate(float largest, int64_t step, float* HWY_RESTRICT row) {
  const Floats d;
  auto sums = hn::Zero(d);
  for (int64_t j = 0; j < step; j += kLanes) {
    const auto e = exponential(d, hn::Sub(hn::LoadU(d, row + j), hn::Set(d, largest)));
    hn::StoreU(e, d, row + j);
    sums = hn::Add(sums, e);
  }
  return hn::GetLane(hn::SumOfLanes(d, sums));
}

/// row = factor · row; the first `keys` go to `weights`, too.
HWY_INLINE void write_weights(float factor, int64_t keys, int64_t step, float* HWY_RESTRICT row,
                              float* HWY_RESTRICT weights) {
  const Floats d;
  for (int64_t j = 0; j < step; j += kLanes) {
    const auto weight = hn::Mul(hn::LoadU(d, row + j), hn::Set(d, factor));
    hn::StoreU(weight, d, row + j);
    if (j + kLanes <= keys) hn::StoreU(weight, d, weights + j);
  }
  for (int64_t j = keys / kLanes * kLanes; j < keys; ++j) weights[j] = row[j];
}

void softmax_scores(const ScoreRows& of) {
  for (int64_t i = 0; i < of.rows; ++i) {
    float* row = of.scores + i * of.step;
    const int64_t seen = of.causal ? std::min(of.keys, of.first_query + i + 1) : of.keys;
    if (of.mask.data) add_mask(of.mask.from_row(i), of.scale, seen, row);
    const float largest = scale_scores(of.mask.data ? 1 : of.scale, seen, of.step, row);
    const float sum = exponentiate(largest, of.step, row);
    write_weights(1 / sum, of.keys, of.step, row, of.weights + i * of.weights_step);
  }
}

void softmax_scores_gradient(int64_t rows, int64_t step, float scale, const float* HWY_RESTRICT p,
                             float* HWY_RESTRICT ds) {
  const Floats d;
  const auto factor = hn::Set(d, scale);
  for (int64_t i = 0; i < rows; ++i, p += step, ds += step) {
    auto sums = hn::Zero(d);
    for (int64_t j = 0; j < step; j += kLanes)
      sums = hn::MulAdd(hn::LoadU(d, p + j), hn::LoadU(d, ds + j), sums);
    const auto sum = hn::Set(d, hn::GetLane(hn::SumOfLanes(d, sums)));
    for (int64_t j = 0; j < step; j += kLanes) {
      const auto weighted = hn::Mul(hn::LoadU(d, p + j), hn::Sub(hn::LoadU(d, ds + j), sum));
      hn::StoreU(hn::Mul(weighted, factor), d, ds + j);
    }
  }
}

}  // namespace treadle::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace treadle::cpu {
namespace {

HWY_EXPORT(multiply_panels);
HWY_EXPORT(softmax_scores);
HWY_EXPORT(softmax_scores_gradient);

/// One panel: `columns` of the matrix.
void pack_panel(HeadMatrix m, int64_t rows, int64_t columns, float* out) {
  if (columns < kPanel) std::fill(out, out + rows * kPanel, 0.0f);
  if (m.row_step == 1) return transpose(columns, rows, m.data, m.column_step, out, kPanel);
  for (int64_t i = 0; i < rows; ++i, out += kPanel) {
    const float* row = m.data + i * m.row_step;
    if (m.column_step == 1 && columns == kPanel)
      std::copy_n(row, kPanel, out);
    else
      for (int64_t j = 0; j < columns; ++j) out[j] = row[j * m.column_step];
  }
}

}  // namespace

void pack_panels(HeadMatrix m, int64_t rows, int64_t columns, float* out) {
  for (int64_t first = 0; first < columns; first += kPanel, out += rows * kPanel)
    pack_panel({m.data + first * m.column_step, m.row_step, m.column_step}, rows,
               std::min(kPanel, columns - first), out);
}

void multiply_panels(int64_t rows, int64_t depth, HeadMatrix a, Panels b, float* c, int64_t c_step,
                     bool accumulate) {
  HWY_DYNAMIC_DISPATCH(multiply_panels)(rows, depth, a, b, c, c_step, accumulate);
}

void softmax_scores(const ScoreRows& rows) { HWY_DYNAMIC_DISPATCH(softmax_scores)(rows); }

void softmax_scores_gradient(int64_t rows, int64_t step, float scale, const float* p, float* ds) {
  HWY_DYNAMIC_DISPATCH(softmax_scores_gradient)(rows, step, scale, p, ds);
}

}  // namespace treadle::cpu
#endif
