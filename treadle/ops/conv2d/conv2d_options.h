/// Options of the conv2d ops. Light: device files include it.
#pragma once

#include "treadle/core/geometry.h"

namespace treadle {

struct Conv2dOptions {
  Pair stride = 1;
  Pads padding = 0;
  Pair dilation = 1;  ///< 1 is a dense filter
  int64_t groups = 1;
  template <class Field>
  static void describe(Field& field) {
    field("stride", &Conv2dOptions::stride, "step between windows: height, width");
    field("padding", &Conv2dOptions::padding, "zeros around the input: top, left, bottom, right");
    field("dilation", &Conv2dOptions::dilation, "step between the elements of a window: height, width");
    field("groups", &Conv2dOptions::groups,
          "channels are cut into so many groups, each with its own filters");
  }
};

struct ConvTranspose2dOptions : Conv2dOptions {
  Pair output_padding = 0;
  template <class Field>
  static void describe(Field& field) {
    Conv2dOptions::describe(field);
    field("output_padding", &ConvTranspose2dOptions::output_padding,
          "places more below and on the right: height, width; less than the stride");
  }
};

struct Conv2dInputGradientOptions : Conv2dOptions {
  Pair input_size = 1;
  bool channels_last = false;
  template <class Field>
  static void describe(Field& field) {
    Conv2dOptions::describe(field);
    field("input_size", &Conv2dInputGradientOptions::input_size, "height and width of x");
    field("channels_last", &Conv2dInputGradientOptions::channels_last, "layout of the result");
  }
};

struct Conv2dWeightGradientOptions : Conv2dOptions {
  Pair kernel_size = 1;
  template <class Field>
  static void describe(Field& field) {
    Conv2dOptions::describe(field);
    field("kernel_size", &Conv2dWeightGradientOptions::kernel_size, "height and width of w");
  }
};

}  // namespace treadle
