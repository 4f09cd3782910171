/// Options of softmax and log_softmax.
#pragma once

#include <cstdint>

namespace treadle {

struct SoftmaxOptions {
  int64_t axis = -1;
  template <class Field>
  static void describe(Field& field) {
    field("axis", &SoftmaxOptions::axis, "axis along which y sums to 1, negative from the end");
  }
};

}  // namespace treadle
