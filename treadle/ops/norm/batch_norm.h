/// Batch normalisation (Ioffe and Szegedy, Batch Normalization, 2015).
#pragma once  // public

#include "treadle/core/tensor.h"
#include "treadle/ops/norm/batch_norm_options.h"

namespace treadle {

struct Op;

/// y, of x's layout where that has no gaps, else row-major; mean and variance [C], in f32 where x is of a
/// half type.
struct BatchNormResult {
  Tensor y, mean, variance;
};

/// y[n,c,…] = (x[n,c,…] - mean[c]) / √(variance[c] + ε) · w[c] + b[c] + residual[n,c,…], and max(y, 0) where
/// options.relu is set: x [N, C, …] with any number of axes behind; w [C] or undefined (1), b [C] or
/// undefined (0), residual of x's shape or undefined (0). Mean and variance (Σ (x - mean)² / their number)
/// are those of each channel's elements in all images. Half types are computed in f32. Floating dtypes.
/// Throws ShapeError for x of fewer than two axes and operands that do not fit, ValueError for an ε that is
/// negative or not a number.
TREADLE_API BatchNormResult batch_norm(const Tensor& x, const Tensor& w = {}, const Tensor& b = {},
                                       const BatchNormOptions& options = {}, const Tensor& residual = {});

/// The same y with mean and variance [C] that are given, of x's dtype: for trained networks.
TREADLE_API Tensor batch_norm_inference(const Tensor& x, const Tensor& mean, const Tensor& variance,
                                        const Tensor& w = {}, const Tensor& b = {},
                                        const BatchNormOptions& options = {}, const Tensor& residual = {});

/// In place: batches += 1, running = (1 - f)·running + f·found for mean and variance, which are those of a
/// batch of `options.count` elements for each channel; its variance becomes the unbiased one, · count/(count
/// - 1). f is the momentum, or 1/batches where options.cumulative is set. All but `batches` (i64, one
/// element) are [C]. Throws ShapeError for operands that do not fit, ValueError for a momentum out of [0, 1]
/// and a count below 2.
TREADLE_API void update_batch_statistics(const Tensor& running_mean, const Tensor& running_variance,
                                         const Tensor& batches, const Tensor& mean, const Tensor& variance,
                                         const BatchStatisticsOptions& options);

/// The ops themselves.
TREADLE_API const Op& batch_norm_op();
TREADLE_API const Op& batch_norm_inference_op();

}  // namespace treadle
