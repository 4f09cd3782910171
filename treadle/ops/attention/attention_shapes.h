/// What attention and its gradient share: shapes, layouts and the scale.
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>

#include "treadle/core/error.h"
#include "treadle/core/tensor_view.h"
#include "treadle/graph/spec.h"
#include "treadle/ops/attention/attention_options.h"

namespace treadle {

/// The factor of the scores of queries of that shape, [..., L, E].
inline double attention_scale(const AttentionOptions& options, const Shape& q) {
  return options.scale == 0 ? 1 / std::sqrt(std::max(double(q[-1]), 1.0)) : options.scale;
}

/// A shape with other extents at its end.
inline Shape ending_with(Shape shape, int64_t rows, int64_t columns) {
  shape[-2] = rows, shape[-1] = columns;
  return shape;
}

/// [batch..., rows, columns]
inline Shape matrices_of(Shape batch, int64_t rows, int64_t columns) {
  batch.push_back(rows);
  batch.push_back(columns);
  return batch;
}

/// [..., L, S]
inline Shape weights_shape(const Shape& q, const Shape& k) { return ending_with(q, q[-2], k[-2]); }

/// Throws unless q, k and v, the first three operands, fit each other and the scale is a finite number that
/// is not negative.
inline void check_attention(const char* op, Specs inputs, const AttentionOptions& options) {
  require_same_dtype(op, inputs);
  const Shape &q = inputs[0].shape, &k = inputs[1].shape, &v = inputs[2].shape;
  require<ValueError>(options.scale >= 0 && std::isfinite(options.scale),
                      "{}: scale {} is negative or not finite", op, options.scale);
  auto require_same_batch = [&](const char* name, const Shape& other) {
    require<ShapeError>(
        q.rank() >= 2 && other.rank() == q.rank() && ending_with(other, 0, 0) == ending_with(q, 0, 0),
        "{}: q has shape {}, {} {}; expected [..., L, E] and [..., S, E]", op, q, name, other);
  };
  require_same_batch("k", k);
  require_same_batch("v", v);
  require<ShapeError>(q[-1] == k[-1], "{}: q {} and k {} have {} and {} features", op, q, k, q[-1], k[-1]);
  require<ShapeError>(k[-2] == v[-2], "{}: k {} and v {} have {} and {} rows", op, k, v, k[-2], v[-2]);
}

/// Of that shape, without gaps, with features innermost and the other axes in the order in which `like` has
/// them in memory: heads that are views of one [N, L, heads·E] give a result of which that is a view, too.
inline TensorSpec laid_out_as(const TensorSpec& like, const Shape& shape) {
  TensorSpec result = TensorSpec::of(shape, like.dtype);
  if (shape.numel() == 0) return result;
  int order[kMaxRank], count = 0;
  for (int axis = 0; axis < shape.rank() - 1; ++axis)
    if (shape[axis] > 1) order[count++] = axis;
  std::stable_sort(order, order + count, [&](int a, int b) { return like.strides[a] > like.strides[b]; });
  int64_t step = shape[-1];
  while (count-- > 0) step *= shape[order[count]], result.strides[order[count]] = step / shape[order[count]];
  return result;
}

/// The same elements with the last two axes swapped.
inline TensorView matrices_transposed(TensorView view) {
  std::swap(view.shape[-2], view.shape[-1]);
  std::swap(view.strides[-2], view.strides[-1]);
  return view;
}

}  // namespace treadle
