/// Options of the reductions.
#pragma once

#include "treadle/core/shape.h"

namespace treadle {

struct ReduceOptions {
  Dims axes;
  bool keep_axes = false;
  template <class Field>
  static void describe(Field& field) {
    field("axes", &ReduceOptions::axes, "axes to reduce, negative from the end; none means all");
    field("keep_axes", &ReduceOptions::keep_axes, "reduced axes stay as extents of 1");
  }
  bool operator==(const ReduceOptions&) const = default;
};

struct ExtremumGradientOptions {
  Dims axes;
  Dims shape;
  template <class Field>
  static void describe(Field& field) {
    field("axes", &ExtremumGradientOptions::axes, "axes that were reduced; none means all");
    field("shape", &ExtremumGradientOptions::shape, "shape before the reduction");
  }
};

}  // namespace treadle
