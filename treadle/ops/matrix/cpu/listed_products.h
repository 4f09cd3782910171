/// The float matrix products of a linear layer that skip the zeros of its input x, as ReLU leaves them:
/// y = x·w + bias, dx = dy·wᵀ where x is not zero, dw = xᵀ·dy. The weight lies in memory as [in][out], so
/// that one element of x meets a row of it. SIMD instructions are chosen at run time (AVX2, AVX-512, …).
///
/// Where x is zero, nothing of w and dy is read: zero times infinity counts as zero. NaN is not zero.
/// One call runs on the calling thread; callers divide rows, outputs or inputs. Outputs must not overlap
/// inputs.
#pragma once

#include <cstdint>

namespace treadle::cpu {

/// y [N,out] = x [N,in] · w [in,out] + bias, then max(y, 0) if `relu`; rows lie the given distances apart,
/// bias [out] or null. Products are added in the order of the inputs.
struct ListedProduct {
  int64_t N, in, out;
  const float* x;
  int64_t x_row;
  const float* w;
  int64_t w_row;
  const float* bias;
  float* y;
  int64_t y_row;
  bool relu;
};
/// Floats of scratch for multiply_listed; for N rows or fewer.
int64_t listed_product_scratch(int64_t N);
void multiply_listed(const ListedProduct& product, float* scratch);

/// Operands of the gradients of y = x·w: x [N,in], dy [N,out].
struct ListedGradient {
  int64_t N, in, out;
  const float* x;
  int64_t x_row;
  const float* dy;
  int64_t dy_row;
};
/// Floats of scratch for either gradient.
int64_t listed_gradient_scratch(int64_t N, int64_t out);

/// dx [N,in] = dy · wᵀ where x is positive or NaN, else 0.
void listed_input_gradient(const ListedGradient& gradient, const float* w, int64_t w_row, float* dx,
                           int64_t dx_row, float* scratch);

/// What becomes of the sums dw = xᵀ·dy [in,out]: they are stored at w, or w -= rate·(dw + weight_decay·w),
/// rounded after every operation, as DecayedStep without contraction.
struct ListedTarget {
  float* w;
  int64_t w_row;
  bool update = false;
  float rate = 0, weight_decay = 0;
};
void listed_weight_gradient(const ListedGradient& gradient, const ListedTarget& target, float* scratch);

}  // namespace treadle::cpu
