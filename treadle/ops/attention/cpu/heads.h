/// Operands of attention as the cpu's loops see them: a matrix of floats for each head.
#pragma once

#include <algorithm>
#include <array>

#include "treadle/graph/variant.h"
#include "treadle/ops/attention/cpu/head_products.h"
#include "treadle/ops/strided_operands.h"

namespace treadle::cpu {

/// A matrix that is written: element (i, j) is data[i·row_step + j·column_step].
struct HeadTarget {
  float* data;
  int64_t row_step, column_step;

  HeadTarget from_row(int64_t i) const { return {data + i * row_step, row_step, column_step}; }
};

/// N operands with the same axes before the last two; the data of one that was left out is null.
template <int N>
class Heads {
 public:
  explicit Heads(const std::array<TensorView, N>& operands) : operands_(operands) {
    Shape shape = operands[0].shape;
    shape[-2] = shape[-1] = 1;
    std::array<Strides, N> strides;
    for (int k = 0; k < N; ++k) strides[k] = operands[k].strides;
    heads_ = make_strided<N>(shape, strides);
  }

  int64_t count() const { return heads_.numel; }

  /// The matrices of one head.
  class Head {
   public:
    HeadTarget target(int k) const {
      const TensorView& view = operands_[size_t(k)];
      return {view.data ? view.as<float>() + offsets_[k] : nullptr, view.strides[-2], view.strides[-1]};
    }
    HeadMatrix operator[](int k) const {
      const HeadTarget matrix = target(k);
      return {matrix.data, matrix.row_step, matrix.column_step};
    }

   private:
    friend class Heads;
    explicit Head(const std::array<TensorView, N>& operands) : operands_(operands) {}
    const std::array<TensorView, N>& operands_;
    int64_t offsets_[N];
  };

  Head operator[](int64_t i) const {
    Head head(operands_);
    heads_.offsets(i, head.offsets_);
    return head;
  }

 private:
  std::array<TensorView, N> operands_;
  Strided<N> heads_;
};

inline bool gives_floats(const Call& call) { return call.output().dtype == DType::f32; }

/// Writes rows that lie `step` elements apart to a matrix of `columns`.
inline void store_rows(const float* rows, int64_t step, int64_t count, int64_t columns, HeadTarget target) {
  for (int64_t i = 0; i < count; ++i, rows += step) {
    float* row = target.data + i * target.row_step;
    if (target.column_step == 1)
      std::copy_n(rows, columns, row);
    else
      for (int64_t j = 0; j < columns; ++j) row[j * target.column_step] = rows[j];
  }
}

/// Copies rows of a matrix to rows that lie `step` elements apart, filled up with zeros.
inline void load_rows(HeadMatrix m, int64_t count, int64_t columns, int64_t step, float* rows) {
  for (int64_t i = 0; i < count; ++i, rows += step) {
    const float* row = m.data + i * m.row_step;
    if (m.column_step == 1)
      std::copy_n(row, columns, rows);
    else
      for (int64_t j = 0; j < columns; ++j) rows[j] = row[j * m.column_step];
    std::fill(rows + columns, rows + step, 0.0f);
  }
}

/// target = a·b for `columns` of b; `room` has whole_panels(columns) elements for each row.
inline void multiply_into(int64_t rows, int64_t depth, HeadMatrix a, const float* b, int64_t b_step,
                          int64_t columns, HeadTarget target, float* room) {
  const Panels panels{b, b_step, panels_of(columns)};
  if (target.column_step == 1 && columns % kPanel == 0)
    return multiply_panels(rows, depth, a, panels, target.data, target.row_step, false);
  multiply_panels(rows, depth, a, panels, room, whole_panels(columns), false);
  store_rows(room, whole_panels(columns), rows, columns, target);
}

/// Queries that are worked on at a time: so many that their scores stay in the L2 cache, in whole tiles.
inline int64_t queries_at_a_time(int64_t queries, int64_t keys) {
  constexpr int64_t kScores = 24 * 1024, kTile = 12, kMost = 8 * kTile;
  const int64_t fitting = kScores / std::max(whole_panels(keys), kPanel) / kTile * kTile;
  return std::min(queries, std::clamp(fitting, kTile, kMost));
}

}  // namespace treadle::cpu
