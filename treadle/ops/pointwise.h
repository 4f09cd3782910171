/// Pointwise ops with NumPy broadcasting. Each struct of kernels/pointwise_functions.h is one op.
///
/// All throw ShapeError naming both shapes when operands do not broadcast. Binary ops promote dtypes as
/// PyTorch does.
#pragma once

#include "treadle/core/tensor.h"

namespace treadle {

TREADLE_API Tensor neg(const Tensor& x);
TREADLE_API Tensor abs(const Tensor& x);
TREADLE_API Tensor exp(const Tensor& x);
TREADLE_API Tensor log(const Tensor& x);
TREADLE_API Tensor sqrt(const Tensor& x);
TREADLE_API Tensor relu(const Tensor& x);
TREADLE_API Tensor leaky_relu(const Tensor& x, double slope = 0.01);
TREADLE_API Tensor sigmoid(const Tensor& x);
TREADLE_API Tensor tanh(const Tensor& x);
/// x·Φ(x) by erf. Hendrycks and Gimpel, Gaussian Error Linear Units, 2016.
TREADLE_API Tensor gelu(const Tensor& x);
TREADLE_API Tensor silu(const Tensor& x);
TREADLE_API Tensor clamp(const Tensor& x, double low, double high);

TREADLE_API Tensor add(const Tensor& a, const Tensor& b);
TREADLE_API Tensor sub(const Tensor& a, const Tensor& b);
TREADLE_API Tensor mul(const Tensor& a, const Tensor& b);
/// Integers are divided as f32.
TREADLE_API Tensor div(const Tensor& a, const Tensor& b);
/// Integers are raised as f32.
TREADLE_API Tensor pow(const Tensor& a, const Tensor& b);
TREADLE_API Tensor maximum(const Tensor& a, const Tensor& b);
TREADLE_API Tensor minimum(const Tensor& a, const Tensor& b);

/// Comparisons give bool tensors.
TREADLE_API Tensor equal(const Tensor& a, const Tensor& b);
TREADLE_API Tensor not_equal(const Tensor& a, const Tensor& b);
TREADLE_API Tensor less(const Tensor& a, const Tensor& b);
TREADLE_API Tensor less_equal(const Tensor& a, const Tensor& b);
TREADLE_API Tensor greater(const Tensor& a, const Tensor& b);
TREADLE_API Tensor greater_equal(const Tensor& a, const Tensor& b);

/// y = condition ? a : b; `condition` is bool.
TREADLE_API Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b);

/// A tensor of rank 0 on `like`'s device, of its dtype.
TREADLE_API Tensor scalar_like(double value, const Tensor& like);

inline Tensor operator+(const Tensor& a, const Tensor& b) { return add(a, b); }
inline Tensor operator-(const Tensor& a, const Tensor& b) { return sub(a, b); }
inline Tensor operator*(const Tensor& a, const Tensor& b) { return mul(a, b); }
inline Tensor operator/(const Tensor& a, const Tensor& b) { return div(a, b); }
inline Tensor operator-(const Tensor& a) { return neg(a); }
inline Tensor operator+(const Tensor& a, double b) { return add(a, scalar_like(b, a)); }
inline Tensor operator-(const Tensor& a, double b) { return sub(a, scalar_like(b, a)); }
inline Tensor operator*(const Tensor& a, double b) { return mul(a, scalar_like(b, a)); }
inline Tensor operator/(const Tensor& a, double b) { return div(a, scalar_like(b, a)); }
inline Tensor operator+(double a, const Tensor& b) { return add(scalar_like(a, b), b); }
inline Tensor operator-(double a, const Tensor& b) { return sub(scalar_like(a, b), b); }
inline Tensor operator*(double a, const Tensor& b) { return mul(scalar_like(a, b), b); }
inline Tensor operator/(double a, const Tensor& b) { return div(scalar_like(a, b), b); }

}  // namespace treadle
