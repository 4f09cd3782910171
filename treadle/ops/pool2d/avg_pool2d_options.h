/// Options of avg_pool2d. Light: device files include it.
#pragma once

#include "treadle/core/geometry.h"

namespace treadle {

struct AvgPool2dOptions {
  Pair kernel = 2;
  Pair stride = 0;  ///< 0: the kernel's extent
  Pads padding = 0;
  bool count_include_pad = true;
  Pair uncounted = 0;   ///< what the mean never counts of the padding below and on the right
  int64_t divisor = 0;  ///< 0: the number of places
  template <class Field>
  static void describe(Field& field) {
    field("kernel", &AvgPool2dOptions::kernel, "elements of a window: height, width");
    field("stride", &AvgPool2dOptions::stride,
          "step between windows: height, width; 0 means the kernel's extent");
    field("padding", &AvgPool2dOptions::padding, "zeros around the input: top, left, bottom, right");
    field("count_include_pad", &AvgPool2dOptions::count_include_pad,
          "whether the mean counts the padding's zeros");
    field("uncounted", &AvgPool2dOptions::uncounted,
          "rows and columns of the padding below and on the right that the mean never counts");
    field("divisor", &AvgPool2dOptions::divisor,
          "what a window's sum is divided by; 0 means the places that the mean counts");
  }
};

struct AvgPool2dGradientOptions : AvgPool2dOptions {
  Pair input_size = 1;
  bool channels_last = false;
  template <class Field>
  static void describe(Field& field) {
    AvgPool2dOptions::describe(field);
    field("input_size", &AvgPool2dGradientOptions::input_size, "height and width of x");
    field("channels_last", &AvgPool2dGradientOptions::channels_last, "layout of the result");
  }
};

}  // namespace treadle
