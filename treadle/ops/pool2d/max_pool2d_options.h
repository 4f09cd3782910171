/// Options of max_pool2d. Light: device files include it.
#pragma once

#include "treadle/core/geometry.h"

namespace treadle {

struct MaxPool2dOptions {
  Pair kernel = 2;
  Pair stride = 0;  ///< 0: the kernel's extent
  Pads padding = 0;
  Pair dilation = 1;
  template <class Field>
  static void describe(Field& field) {
    field("kernel", &MaxPool2dOptions::kernel, "elements of a window: height, width");
    field("stride", &MaxPool2dOptions::stride,
          "step between windows: height, width; 0 means the kernel's extent");
    field("padding", &MaxPool2dOptions::padding, "places without a value: top, left, bottom, right");
    field("dilation", &MaxPool2dOptions::dilation, "step between the elements of a window: height, width");
  }
};

struct MaxPool2dGradientOptions : MaxPool2dOptions {
  Pair input_size = 1;
  bool channels_last = false;
  template <class Field>
  static void describe(Field& field) {
    MaxPool2dOptions::describe(field);
    field("input_size", &MaxPool2dGradientOptions::input_size, "height and width of x");
    field("channels_last", &MaxPool2dGradientOptions::channels_last, "layout of the result");
  }
};

}  // namespace treadle
