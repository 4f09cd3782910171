/// What attention does on one head of float: products with packed matrices, softmax of scores and its
/// gradient. Each call runs on the calling thread alone, in SIMD instructions chosen at run time.
#pragma once

#include <cstdint>

namespace treadle::cpu {

/// Columns that packed matrices have side by side: the widest vector.
inline constexpr int64_t kPanel = 16;

constexpr int64_t panels_of(int64_t columns) { return (columns + kPanel - 1) / kPanel; }
constexpr int64_t whole_panels(int64_t columns) { return panels_of(columns) * kPanel; }

/// Element (i, j) lies at data[i·row_step + j·column_step].
struct HeadMatrix {
  const float* data;
  int64_t row_step, column_step;

  HeadMatrix from_row(int64_t i) const { return {data + i * row_step, row_step, column_step}; }
  HeadMatrix transposed() const { return {data, column_step, row_step}; }
};

/// out[panel][i][j] = m[i][panel·kPanel + j], filled up with zeros: whole_panels(columns) · rows elements.
void pack_panels(HeadMatrix m, int64_t rows, int64_t columns, float* out);

/// Panels of a matrix, `step` elements from one to the next.
struct Panels {
  const float* data;
  int64_t step, count;
};

/// c[i][j] = Σ_p a[i][p] · b[p][j] for i of [0, rows), p of [0, depth) and all columns of the panels; added
/// to c where `accumulate` is set. The rows of c lie `c_step` elements apart.
void multiply_panels(int64_t rows, int64_t depth, HeadMatrix a, Panels b, float* c, int64_t c_step,
                     bool accumulate);

/// Scores of some queries, one behind the other: rows of whole panels, of which the first `keys` elements
/// count.
struct ScoreRows {
  float* scores;
  int64_t rows, keys;
  int64_t step;         ///< from row to row, a multiple of kPanel
  float scale;          ///< of the scores
  HeadMatrix mask;      ///< added to them; data is null where there is none
  bool causal;          ///< whether row i sees the keys 0 to first_query + i alone
  int64_t first_query;  ///< the first row's place among the queries
  float* weights;       ///< where the result is written, too: `keys` elements of each row
  int64_t weights_step;
};

/// scores = softmax(scale · scores + mask) in each row, 0 for keys that are not seen and up to `step`. A row
/// that sees no key becomes NaN.
void softmax_scores(const ScoreRows& rows);

/// ds = scale · p·(ds - Σ p·ds) in each row of `step` elements, a multiple of kPanel, of both.
void softmax_scores_gradient(int64_t rows, int64_t step, float scale, const float* p, float* ds);

}  // namespace treadle::cpu
