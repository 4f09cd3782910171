/// Options of the view ops.
#pragma once

#include <limits>

#include "treadle/core/shape.h"

namespace treadle {

struct ReshapeOptions {
  Dims shape;
  template <class Field>
  static void describe(Field& field) {
    field("shape", &ReshapeOptions::shape, "extents of the result; one may be -1");
  }
};

struct FlattenOptions {
  int64_t start_axis = 1;
  template <class Field>
  static void describe(Field& field) {
    field("start_axis", &FlattenOptions::start_axis, "first of the axes that are merged");
  }
};

struct AxisOptions {
  int64_t axis = 0;
  template <class Field>
  static void describe(Field& field) {
    field("axis", &AxisOptions::axis, "the axis, negative from the end");
  }
};

struct PermuteOptions {
  Dims axes;
  template <class Field>
  static void describe(Field& field) {
    field("axes", &PermuteOptions::axes, "for each axis of the result, the axis of x it was");
  }
};

struct TransposeOptions {
  int64_t a = -2, b = -1;
  template <class Field>
  static void describe(Field& field) {
    field("a", &TransposeOptions::a, "one axis");
    field("b", &TransposeOptions::b, "the axis it changes places with");
  }
};

struct SliceOptions {
  int64_t axis = 0, begin = 0, end = std::numeric_limits<int64_t>::max(), step = 1;
  template <class Field>
  static void describe(Field& field) {
    field("axis", &SliceOptions::axis, "the axis, negative from the end");
    field("begin", &SliceOptions::begin, "first position, negative from the end");
    field("end", &SliceOptions::end, "position to stop before, negative from the end");
    field("step", &SliceOptions::step, "distance of positions, at least 1");
  }
};

struct ExpandOptions {
  Dims shape;
  template <class Field>
  static void describe(Field& field) {
    field("shape", &ExpandOptions::shape, "extents of the result");
  }
};

}  // namespace treadle
