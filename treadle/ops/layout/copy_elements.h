/// Copies between views on the cpu device, for ops that are copies of parts.
#pragma once

#include "treadle/core/tensor_view.h"

namespace treadle {

/// target[i] = source[i], source broadcast to target's shape; same dtype, no overlap, any strides. In
/// parallel.
void copy_elements(const TensorView& target, const TensorView& source);

/// Sets every element to the value whose lowest bytes are `bits`.
void fill_elements(const TensorView& target, uint64_t bits);

/// The part of a view along `axis` that holds `count` elements from `begin` on, `step` apart.
inline TensorView part_of(const TensorView& whole, int axis, int64_t begin, int64_t count, int64_t step = 1) {
  TensorView part = whole;
  part.data = whole.element(begin * whole.strides[axis]);
  part.shape[axis] = count;
  part.strides[axis] = whole.strides[axis] * step;
  return part;
}

/// Calls f(TypeTag<Word>{}) with the unsigned type of the dtype's size: enough for what only moves elements.
template <class F>
decltype(auto) with_word_type(DType dtype, F&& f) {
  switch (size_of(dtype)) {
    case 1:
      return f(TypeTag<uint8_t>{});
    case 2:
      return f(TypeTag<uint16_t>{});
    case 4:
      return f(TypeTag<uint32_t>{});
    default:
      return f(TypeTag<uint64_t>{});
  }
}

}  // namespace treadle
