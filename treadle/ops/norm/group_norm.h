/// Group normalisation (Wu and He, Group Normalization, 2018).
#pragma once  // public

#include <cstdint>

#include "treadle/core/tensor.h"

namespace treadle {

struct GroupNormOptions {
  int64_t groups = 1;
  double epsilon = 1e-5;
  template <class Field>
  static void describe(Field& field) {
    field("groups", &GroupNormOptions::groups, "the channels are cut into so many groups");
    field("epsilon", &GroupNormOptions::epsilon, "added to the variance");
  }
};

/// y[n,c,…] = (x[n,c,…] - mean) / √(variance + ε) · w[c] + b[c]: x [N, C, …] with any number of axes behind →
/// y of that shape, and of x's layout where that has no gaps, else row-major; w [C] or undefined (1), b [C]
/// or undefined (0). Mean and variance (Σ (x - mean)² / their number) are those of the elements of each image
/// in each group of C/groups channels that follow one another: layer normalisation of images for one group,
/// instance normalisation for C. Half types are computed in f32. Floating dtypes. Throws ShapeError for x of
/// fewer than two axes, groups that do not divide C and operands that do not fit, ValueError for an ε that is
/// negative or not a number.
TREADLE_API Tensor group_norm(const Tensor& x, const Tensor& w = {}, const Tensor& b = {},
                              const GroupNormOptions& options = {});

}  // namespace treadle
