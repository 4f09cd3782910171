/// Options of the ops index_select and index_select_gradient.
#pragma once

#include <cstdint>

#include "treadle/core/shape.h"

namespace treadle {

struct IndexSelectOptions {
  int64_t axis = 0;
  template <class Field>
  static void describe(Field& field) {
    field("axis", &IndexSelectOptions::axis, "the axis that is indexed, negative from the end");
  }
};

struct IndexSelectGradientOptions {
  int64_t axis = 0, extent = 1;
  template <class Field>
  static void describe(Field& field) {
    field("axis", &IndexSelectGradientOptions::axis, "the axis that was indexed, negative from the end");
    field("extent", &IndexSelectGradientOptions::extent, "extent of dx along it");
  }
};

/// What is said of an index out of range: its value, its position, the extent.
inline constexpr const char* kIndexOutOfRange = "index_select: index {} at position {} is outside [0, {})";

/// Strides with the one along `axis` taken out: the caller adds it times the index.
inline Strides without_axis(Strides strides, int axis) {
  strides[axis] = 0;
  return strides;
}

/// Strides of the vector of indices laid along `axis` of a tensor of that rank.
inline Strides along_axis(int rank, int axis, int64_t stride) {
  Strides strides = Dims::filled(rank, 0);
  strides[axis] = stride;
  return strides;
}

}  // namespace treadle
