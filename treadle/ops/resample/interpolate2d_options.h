/// Options of interpolate2d. Light: device files include it.
#pragma once

#include <string>

#include "treadle/core/geometry.h"

namespace treadle {

struct InterpolateOptions {
  Pair size = 1;
  std::string mode = "nearest";
  bool align_corners = false;
  template <class Field>
  static void describe(Field& field) {
    field("size", &InterpolateOptions::size, "height and width of the result");
    field("mode", &InterpolateOptions::mode, "nearest, bilinear or area");
    field("align_corners", &InterpolateOptions::align_corners,
          "bilinear: whether the centres of the corners, and not the corners, lie on each other");
  }
};

struct InterpolateGradientOptions : InterpolateOptions {
  Pair input_size = 1;
  bool channels_last = false;
  template <class Field>
  static void describe(Field& field) {
    InterpolateOptions::describe(field);
    field("input_size", &InterpolateGradientOptions::input_size, "height and width of x");
    field("channels_last", &InterpolateGradientOptions::channels_last, "layout of the result");
  }
};

}  // namespace treadle
