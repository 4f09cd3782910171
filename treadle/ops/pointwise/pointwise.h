/// Pointwise ops with NumPy broadcasting. Each struct of functions/ is one op; unary_functions.h declares
/// those of one operand, and is made of them.
///
/// All throw ShapeError naming both shapes when operands do not broadcast, ValueError for an undefined
/// operand, DTypeError for a dtype that is not taken.
///
/// Operands of several are tensors or numbers, computed in result_type() of them (core/dtype.h), as in
/// PyTorch: a tensor of rank 0 or a number raises another tensor's dtype only to a higher category. Gradients
/// come back in each operand's own dtype. Integers wrap, also a number that its tensor's dtype does not hold:
/// u8 1 + 300 is 45. A fraction is rounded to the half types before it is used.
#pragma once  // public

#include "treadle/core/scalar.h"
#include "treadle/core/tensor.h"
#include "treadle/ops/pointwise/unary_functions.h"

namespace treadle {

struct Op;

/// A tensor or a number, as a parameter: it refers to the tensor it was made from.
class Operand {
 public:
  Operand(const Tensor& tensor) : tensor_(&tensor) {}
  template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>
  Operand(T number) : number_(number) {}
  Operand(const Scalar& number) : number_(number) {}

  /// Null for a number.
  const Tensor* tensor() const { return tensor_; }
  const Scalar& number() const { return number_; }

 private:
  const Tensor* tensor_ = nullptr;
  Scalar number_ = 0;
};

/// min(max(x, low), high): `high` where low is larger; NaN where a bound is NaN. A bound beyond an integer
/// dtype does not bind, so ±infinity stands for none in floating dtypes. Throws DTypeError where all are
/// bool.
TREADLE_API Tensor clamp(const Tensor& x, const Scalar& low, const Scalar& high);

/// Of bools: the logical or.
TREADLE_API Tensor add(const Operand& a, const Operand& b);
/// Throws DTypeError for bools.
TREADLE_API Tensor sub(const Operand& a, const Operand& b);
/// Of bools: the logical and.
TREADLE_API Tensor mul(const Operand& a, const Operand& b);
/// Integers and bools are divided as f32.
TREADLE_API Tensor div(const Operand& a, const Operand& b);
/// Integers are raised as integers, and wrap; raised to a negative tensor they give the whole part, to a
/// negative number ValueError. Throws DTypeError for bools. The gradient of a^0 is 0, that of 0^b for b is 0
/// if b ≥ 0.
TREADLE_API Tensor pow(const Operand& a, const Operand& b);
TREADLE_API Tensor maximum(const Operand& a, const Operand& b);
TREADLE_API Tensor minimum(const Operand& a, const Operand& b);

/// alpha·elu(x/alpha), whose derivative is continuous for every alpha. Barron, Continuously Differentiable
/// Exponential Linear Units, 2017.
TREADLE_API Tensor celu(const Tensor& x, double alpha = 1);
/// elu() with the alpha and scale that keep mean 0 and variance 1: Klambauer, Unterthiner, Mayr and
/// Hochreiter, Self-Normalizing Neural Networks, 2017.
TREADLE_API Tensor selu(const Tensor& x);
/// y = x for x > 0, w[c]·x elsewhere: x [N, C, …], w [C], or [1] for all. He, Zhang, Ren and Sun, Delving
/// Deep into Rectifiers, 2015. Throws ShapeError for another w.
TREADLE_API Tensor prelu(const Tensor& x, const Tensor& w);

/// The ops themselves.
TREADLE_API const Op& add_op();
TREADLE_API const Op& sub_op();
TREADLE_API const Op& mul_op();
TREADLE_API const Op& div_op();
TREADLE_API const Op& greater_equal_op();
TREADLE_API const Op& where_op();

/// Comparisons give bool tensors. A number beyond an integer tensor's dtype is compared as it is;
/// PyTorch would wrap it.
TREADLE_API Tensor equal(const Operand& a, const Operand& b);
TREADLE_API Tensor not_equal(const Operand& a, const Operand& b);
TREADLE_API Tensor less(const Operand& a, const Operand& b);
TREADLE_API Tensor less_equal(const Operand& a, const Operand& b);
TREADLE_API Tensor greater(const Operand& a, const Operand& b);
TREADLE_API Tensor greater_equal(const Operand& a, const Operand& b);

/// y = condition ? a : b; `condition` is bool. Throws ValueError for a number that the result's dtype does
/// not hold.
TREADLE_API Tensor where(const Tensor& condition, const Operand& a, const Operand& b);

/// A tensor of rank 0 on `like`'s device, of its dtype. Throws ValueError where that does not hold the value.
TREADLE_API Tensor scalar_like(double value, const Tensor& like);

inline Tensor operator+(const Operand& a, const Operand& b) { return add(a, b); }
inline Tensor operator-(const Operand& a, const Operand& b) { return sub(a, b); }
inline Tensor operator*(const Operand& a, const Operand& b) { return mul(a, b); }
inline Tensor operator/(const Operand& a, const Operand& b) { return div(a, b); }
inline Tensor operator-(const Tensor& a) { return neg(a); }

}  // namespace treadle
