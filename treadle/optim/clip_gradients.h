/// Clipping of gradients, between backward() and an optimizer's step.
///
/// All of it is ops: inside a compiled function it is part of the program, and no number is read on the host.
#pragma once  // public

#include <span>

#include "treadle/core/tensor.h"

namespace treadle {

/// Scales the gradients of all parameters by min(1, most / (norm + 1e-6)), where norm is that of all their
/// elements together, √Σg², and returns norm as it was: a tensor of rank 0, f64 where a gradient is f64, else
/// f32. Parameters without a gradient are left alone; without any the norm is 0. Pascanu, Mikolov and Bengio,
/// On the Difficulty of Training Recurrent Neural Networks, 2013; PyTorch's clip_grad_norm_. Throws
/// ValueError for a bound that is negative or NaN, DeviceError for gradients on two devices.
TREADLE_API Tensor clip_gradient_norm(std::span<const Tensor> parameters, double most);

/// Brings each element of the gradients into [-most, most]. Throws ValueError for a bound that is negative or
/// NaN.
TREADLE_API void clip_gradient_values(std::span<const Tensor> parameters, double most);

}  // namespace treadle
