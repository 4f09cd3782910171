/// Expression: a number or a tensor in place of T in a pointwise function's `gradient`, so that the formula
/// calls ops, which have gradients themselves. Numbers among each other are computed in double.
#pragma once

#include "treadle/core/tensor.h"
#include "treadle/graph/autograd.h"
#include "treadle/graph/op.h"
#include "treadle/ops/layout/cast.h"
#include "treadle/ops/layout/declaration/convert.h"
#include "treadle/ops/layout/views.h"
#include "treadle/ops/pointwise/pointwise.h"
#include "treadle/ops/pointwise/pointwise_function.h"

namespace treadle {

class Expression {
 public:
  Expression(double number) : number_(number) {}
  explicit Expression(const Tensor& tensor) : tensor_(tensor) {}

  bool is_number() const { return !tensor_.defined(); }
  double number() const { return number_; }
  /// Undefined for a number.
  const Tensor& tensor() const { return tensor_; }
  Operand operand() const { return is_number() ? Operand(number_) : Operand(tensor_); }

 private:
  Tensor tensor_;
  double number_ = 0;
};

/// What comparing a tensor gives; `like` has its dtype.
class Condition {
 public:
  Condition(const Tensor& holds, const Tensor& like) : holds_(holds), like_(like) {}
  const Tensor& holds() const { return holds_; }
  const Tensor& like() const { return like_; }

 private:
  Tensor holds_, like_;
};

inline Expression operator-(const Expression& a) {
  return a.is_number() ? Expression(-a.number()) : Expression(neg(a.tensor()));
}
inline Expression operator+(const Expression& a, const Expression& b) {
  if (a.is_number() && b.is_number()) return a.number() + b.number();
  return Expression(add(a.operand(), b.operand()));
}
inline Expression operator-(const Expression& a, const Expression& b) {
  if (a.is_number() && b.is_number()) return a.number() - b.number();
  return Expression(sub(a.operand(), b.operand()));
}
inline Expression operator*(const Expression& a, const Expression& b) {
  if (a.is_number() && b.is_number()) return a.number() * b.number();
  return Expression(mul(a.operand(), b.operand()));
}
inline Expression operator/(const Expression& a, const Expression& b) {
  if (a.is_number() && b.is_number()) return a.number() / b.number();
  return Expression(div(a.operand(), b.operand()));
}

/// Of a tensor and a number.
inline Condition operator>(const Expression& a, const Expression& b) {
  return {greater(a.tensor(), b.operand()), a.tensor()};
}
inline Condition operator<(const Expression& a, const Expression& b) {
  return {less(a.tensor(), b.operand()), a.tensor()};
}
inline Condition operator>=(const Expression& a, const Expression& b) {
  return {greater_equal(a.tensor(), b.operand()), a.tensor()};
}
inline Condition operator<=(const Expression& a, const Expression& b) {
  return {less_equal(a.tensor(), b.operand()), a.tensor()};
}

namespace math {

inline Expression exp(const Expression& x) { return Expression(treadle::exp(x.tensor())); }
inline Expression erf(const Expression& x) { return Expression(treadle::erf(x.tensor())); }
inline Expression sin(const Expression& x) { return Expression(treadle::sin(x.tensor())); }
inline Expression cos(const Expression& x) { return Expression(treadle::cos(x.tensor())); }
inline Expression logistic(const Expression& x) { return Expression(treadle::sigmoid(x.tensor())); }
inline Expression select(const Condition& condition, const Expression& a, const Expression& b) {
  auto of_dtype = [&](const Expression& x) {
    return x.is_number() ? scalar_like(x.number(), condition.like()) : x.tensor();
  };
  return Expression(where(condition.holds(), of_dtype(a), of_dtype(b)));
}

}  // namespace math

/// Gradients of a function's gradient op, (saved, dy) → dx. Half types are computed in f32, as the op does.
template <class F>
std::vector<Tensor> gradient_of_gradient(const F& f, const GradientContext& context) {
  const DType dtype = context.input_spec(0).dtype;
  return gradient_through(context, {context.input(0), context.input(1)}, [&](const std::vector<Tensor>& x) {
    auto wide = [&](const Tensor& operand) { return Expression(cast(operand, wide_dtype(dtype))); };
    const Tensor dx = f.template gradient<Expression>(wide(x[0]), wide(x[1])).tensor();
    return std::vector{cast(expand(dx, context.output_spec().shape), dtype)};
  });
}

}  // namespace treadle
