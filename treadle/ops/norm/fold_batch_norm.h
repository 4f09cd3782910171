/// A convolution's filters and bias with the batch normalisation behind it in them.
#pragma once

namespace treadle {

struct Op;

struct FoldBatchNormOptions {
  double epsilon = 1e-5;
  template <class Field>
  static void describe(Field& field) {
    field("epsilon", &FoldBatchNormOptions::epsilon, "added to the variance");
  }
};

/// With s[k] = weight[k] / √(variance[k] + ε): w'[k,…] = w[k,…]·s[k] and b'[k] = (b[k] - mean[k])·s[k] +
/// bias[k]. Operands: w [K,…], b, mean, variance, weight and bias [K], of which b (0), weight (1) and bias
/// (0) may be left out. Half types are computed in f32.
const Op& fold_batch_norm_op();

}  // namespace treadle
