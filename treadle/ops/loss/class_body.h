/// Bodies of losses that have a term for each sample of a class.
#pragma once

#include "treadle/ops/layout/copy.h"
#include "treadle/ops/layout/declaration/convert.h"
#include "treadle/ops/layout/views.h"
#include "treadle/ops/loss/declaration/loss_body.h"
#include "treadle/ops/loss/pick.h"
#include "treadle/ops/loss/pick_options.h"
#include "treadle/ops/pointwise/pointwise.h"
#include "treadle/ops/reduce/reduce.h"
#include "treadle/ops/reduce/reduce_options.h"

namespace treadle {

/// Each sample's element of its class, [N].
inline TensorView picked(const Composition& call, const TensorView& x, int64_t ignore_index, DType dtype) {
  const TensorView values = call.scratch({x.shape[0]}, x.dtype);
  call.run(pick_op(), {x, call.input(1)}, {values}, Attributes::of(PickOptions{ignore_index}));
  return as_dtype(call, values, dtype);
}

/// The weight of each sample's class, [N]: 1 where input 2 is left out, 0 where the label is ignored.
inline TensorView weights_of_samples(const Composition& call, int64_t ignore_index, DType dtype) {
  TensorView weight = call.has_input(2) ? call.input(2) : number(call, 1, dtype);
  weight.strides = {0, weight.shape.rank() == 0 ? 0 : weight.strides[0]};
  weight.shape = call.input(0).shape;
  return picked(call, weight, ignore_index, dtype);
}

/// The same outside of a body.
inline Tensor weights_of_samples(const Tensor& weight, const Tensor& labels, const Tensor& like,
                                 int64_t classes, int64_t ignore_index) {
  const Tensor all = weight.defined() ? weight : scalar_like(1, like);
  return pick(expand(all, {labels.size(0), classes}), labels, ignore_index);
}

}  // namespace treadle
