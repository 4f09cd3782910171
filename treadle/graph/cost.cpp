#include "treadle/graph/cost.h"

namespace treadle {
namespace {

/// Bytes of the elements that lie at addresses of their own.
double stored_bytes(const TensorView& view) {
  double count = 1;
  for (int axis = 0; axis < view.shape.rank(); ++axis)
    if (view.strides[axis] != 0) count *= double(view.shape[axis]);
  return count * double(size_of(view.dtype));
}

}  // namespace

double bytes_of(const Call& call) {
  double bytes = 0;
  for (const TensorView& view : call.inputs)
    if (view.defined()) bytes += stored_bytes(view);
  for (const TensorView& view : call.outputs) bytes += stored_bytes(view);
  return bytes;
}

}  // namespace treadle
