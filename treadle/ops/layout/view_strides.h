/// When a reshape can be a view.
#pragma once

#include <optional>

#include "treadle/core/shape.h"

namespace treadle {

/// Strides under which the elements of (shape, strides), read row-major, have the shape `target` of as many
/// elements; none when they would need a copy.
inline std::optional<Strides> view_strides(const Shape& shape, const Strides& strides, const Shape& target) {
  Strides result = contiguous_strides(target);
  if (shape.numel() <= 1) return result;
  int to = target.rank() - 1;
  for (int from = shape.rank() - 1; from >= 0;) {
    if (shape[from] == 1) {
      --from;
      continue;
    }
    // A run of axes that lie like one: the target's axes must divide it evenly.
    int64_t stride = strides[from], run = shape[from], next = stride * run;
    for (--from; from >= 0 && (shape[from] == 1 || strides[from] == next); --from)
      run *= shape[from], next = stride * run;
    for (; run > 1; --to) {
      if (run % target[to] != 0) return {};
      result[to] = stride;
      stride *= target[to];
      run /= target[to];
    }
  }
  return result;
}

}  // namespace treadle
