/// The float product aᵀ·b of two tall matrices, as the gradient of a linear layer's weight is for large
/// batches, and sums of rows.
///
/// One call runs on the calling thread; callers divide the terms or the result. Outputs must not overlap
/// inputs.
#pragma once

#include <cstdint>

namespace treadle::cpu {

/// c = aᵀ·b for a [K,M] with any strides, b [K,N] with dense rows, `b_row` floats apart, and c [M,N] with
/// rows padded_columns(N) apart, at a multiple of 64 bytes; what lies behind the N-th column is overwritten.
/// Terms are taken a few at a time, so that both operands are read once and lie in L1 meanwhile; c is to stay
/// in L2.
struct TallProduct {
  int64_t K, M, N;
  const float* a;
  int64_t a_row, a_column;
  const float* b;
  int64_t b_row;
  float* c;
};
int64_t padded_columns(int64_t columns);
/// Floats of scratch that multiply_tall needs, at a multiple of 64 bytes.
int64_t tall_scratch();
void multiply_tall(const TallProduct& product, float* scratch);

/// out = Σ_r rows[r], in the order of r, for `columns` columns of rows that are dense and `row` floats apart.
/// It may be the first of them.
void sum_rows(int64_t rows, int64_t columns, const float* from, int64_t row, float* out);

}  // namespace treadle::cpu
