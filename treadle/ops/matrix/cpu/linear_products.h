/// The float matrix products of a linear layer, y = x·wᵀ, dx = dy·w and dw = dyᵀ·x, for small batches: the
/// large operand is read where it lies, once. SIMD instructions are chosen at run time (AVX2, AVX-512, …).
///
/// One call runs on the calling thread; callers divide the output. An element of the result is the same to
/// the bit however the output is divided. Outputs have elements, and must not overlap inputs.
#pragma once

#include <cstdint>

namespace treadle::cpu {

/// c = a·bᵀ + bias, then max(c, 0) if `relu`: dot products of rows. a [M,K], b [N,K], c [M,N] are row-major
/// with the given distance between rows, bias [N] or null. NaN propagates.
struct RowProduct {
  int64_t M, N, K;
  const float* a;
  int64_t a_row;
  const float* b;
  int64_t b_row;
  const float* bias;
  float* c;
  int64_t c_row;
  bool relu;
};
void multiply_rows(const RowProduct& product);

/// c = bias + a·b, then max(c, 0) if `relu`, or in place c -= rate·(a·b + weight_decay·c). a [M,K] has any
/// strides; b [K,N] lies row by row or, with b_row = 1, column by column; c [M,N] is row-major, bias [N] or
/// null. Each sum begins with the bias and adds its products in the order of K with one rounding per term;
/// the update rounds after every operation, as DecayedStep without contraction. NaN propagates.
struct PanelProduct {
  int64_t M, N, K;
  const float* a;
  int64_t a_row, a_column;
  const float* b;
  int64_t b_row, b_column;
  float* c;
  int64_t c_row;
  const float* bias = nullptr;
  bool relu = false;
  bool update = false;  ///< then without bias and relu
  float rate = 0, weight_decay = 0;
};
/// Floats of scratch that multiply_panels needs for this product, or for a part of it. The scratch begins at
/// a multiple of 64 bytes.
int64_t panel_scratch(const PanelProduct& product);
void multiply_panels(const PanelProduct& product, float* scratch);

}  // namespace treadle::cpu
