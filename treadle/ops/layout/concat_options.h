/// Options of the concat op.
#pragma once

#include <cstdint>

namespace treadle {

struct ConcatOptions {
  int64_t axis = 0;
  template <class Field>
  static void describe(Field& field) {
    field("axis", &ConcatOptions::axis, "the axis along which extents add up, negative from the end");
  }
};

}  // namespace treadle
