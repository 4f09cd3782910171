/// Layer normalisation over the last axis (Ba, Kiros and Hinton, Layer Normalization, 2016).
#pragma once  // public

#include "treadle/core/tensor.h"

namespace treadle {

struct Op;

struct LayerNormOptions {
  double epsilon = 1e-5;
  template <class Field>
  static void describe(Field& field) {
    field("epsilon", &LayerNormOptions::epsilon, "added to the variance");
  }
};

/// y = (x - mean) / √(variance + ε) · w + b: x [..., C] → y [..., C], row-major; w [C], b [C] or undefined.
/// Mean and variance (Σ (x - mean)² / C) are those of each row of C. Floating dtypes. Throws ShapeError for x
/// of rank 0 and operands that do not fit, ValueError for an ε that is negative or not a number.
TREADLE_API Tensor layer_norm(const Tensor& x, const Tensor& w, const Tensor& b = {},
                              const LayerNormOptions& options = {});
/// The op itself.
TREADLE_API const Op& layer_norm_op();

}  // namespace treadle
