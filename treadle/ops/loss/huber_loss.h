/// Huber's loss (Robust Estimation of a Location Parameter, 1964), and its form in Girshick, Fast R-CNN,
/// 2015.
#pragma once  // public

#include <string>

#include "treadle/core/tensor.h"

namespace treadle {

/// loss = Σ h(x - target) / n over all n elements, h(d) = d²/2 for |d| ≤ δ, else δ·(|d| - δ/2); "sum" does
/// not divide, "none" gives h element by element. x and target have one shape and floating dtype. Throws
/// ShapeError, DTypeError, ValueError for a δ that is not positive and for an unknown reduction.
TREADLE_API Tensor huber_loss(const Tensor& x, const Tensor& target, double delta = 1,
                              const std::string& reduction = "mean");

/// huber_loss for δ = β, divided by β: d²/(2β) for |d| < β, else |d| - β/2. For β = 0 it is l1_loss. Throws
/// as that does, ValueError for a negative β.
TREADLE_API Tensor smooth_l1_loss(const Tensor& x, const Tensor& target, double beta = 1,
                                  const std::string& reduction = "mean");

}  // namespace treadle
