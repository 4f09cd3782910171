/// Options of the op pad.
#pragma once

#include "treadle/core/shape.h"

namespace treadle {

struct PadOptions {
  Dims before, after;
  double value = 0;
  template <class Field>
  static void describe(Field& field) {
    field("before", &PadOptions::before, "places before each axis");
    field("after", &PadOptions::after, "places behind each axis");
    field("value", &PadOptions::value, "what stands there");
  }
};

}  // namespace treadle
