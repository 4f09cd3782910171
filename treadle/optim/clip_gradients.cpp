#include "treadle/optim/clip_gradients.h"

#include "treadle/core/error.h"
#include "treadle/graph/autograd.h"
#include "treadle/ops/layout/cast.h"
#include "treadle/ops/pointwise/pointwise.h"
#include "treadle/ops/reduce/reduce.h"

namespace treadle {
namespace {

/// Added to the norm, which may be 0.
constexpr double kLeastNorm = 1e-6;

void require_bound(const char* function, double most) {
  require<ValueError>(most >= 0, "{}: the bound is {}; it must be 0 or more", function, most);
}

/// In f32 where they are of a half type, whose squares would overflow.
Tensor sum_of_squares(const Tensor& gradient) {
  const Tensor g = gradient.dtype() == DType::f64 ? gradient : cast(gradient, DType::f32);
  return sum(g * g);
}

/// Sets the gradient of each parameter that has one.
template <class Change>
void change_gradients(std::span<const Tensor> parameters, Change change) {
  for (Tensor parameter : parameters)
    if (const Tensor gradient = parameter.grad(); gradient.defined()) parameter.set_grad(change(gradient));
}

}  // namespace

Tensor clip_gradient_norm(std::span<const Tensor> parameters, double most) {
  require_bound("clip_gradient_norm", most);
  NoGrad no_grad;
  Tensor squares;
  for (const Tensor& parameter : parameters)
    if (const Tensor gradient = parameter.grad(); gradient.defined())
      squares = squares.defined() ? squares + sum_of_squares(gradient) : sum_of_squares(gradient);
  if (!squares.defined()) return Tensor::zeros({});
  const Tensor norm = sqrt(squares);
  const Tensor factor = minimum(most / (norm + kLeastNorm), 1.0);
  change_gradients(parameters, [&](const Tensor& gradient) { return gradient * factor; });
  return norm;
}

void clip_gradient_values(std::span<const Tensor> parameters, double most) {
  require_bound("clip_gradient_values", most);
  NoGrad no_grad;
  change_gradients(parameters, [&](const Tensor& gradient) { return clamp(gradient, -most, most); });
}

}  // namespace treadle
