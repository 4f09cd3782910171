/// Options of the conv2d_max_pool2d ops. Light: device files include it.
#pragma once

#include "treadle/core/geometry.h"
#include "treadle/ops/conv2d/conv2d_options.h"

namespace treadle {

/// The choice of a pooling window from which no gradient flows back.
inline constexpr uint8_t kNoChoice = 255;
/// So many places a pooling window may hold: each has a number below kNoChoice.
inline constexpr int64_t kMostPooledPlaces = 254;

struct Conv2dMaxPool2dOptions : Conv2dOptions {
  Pair pool_kernel = 2;
  Pair pool_stride = 0;  ///< 0: the window's extent
  Pads pool_padding = 0;
  bool relu = true;
  bool row_major = false;
  bool choice = true;
  template <class Field>
  static void describe(Field& field) {
    Conv2dOptions::describe(field);
    field("pool_kernel", &Conv2dMaxPool2dOptions::pool_kernel, "elements of a pooling window: height, width");
    field("pool_stride", &Conv2dMaxPool2dOptions::pool_stride,
          "step between pooling windows: height, width; 0 means the window's extent");
    field("pool_padding", &Conv2dMaxPool2dOptions::pool_padding,
          "places without a value around the convolution's result: top, left, bottom, right");
    field("relu", &Conv2dMaxPool2dOptions::relu, "negative results become 0");
    field("row_major", &Conv2dMaxPool2dOptions::row_major,
          "lay the results out row-major even where x is channels-last");
    field("choice", &Conv2dMaxPool2dOptions::choice,
          "tell which place of the window gave y; without that there is no gradient");
  }
};

struct Conv2dMaxPool2dInputGradientOptions : Conv2dMaxPool2dOptions {
  Pair input_size = 1;
  bool channels_last = false;
  template <class Field>
  static void describe(Field& field) {
    Conv2dMaxPool2dOptions::describe(field);
    field("input_size", &Conv2dMaxPool2dInputGradientOptions::input_size, "height and width of x");
    field("channels_last", &Conv2dMaxPool2dInputGradientOptions::channels_last, "layout of the result");
  }
};

struct Conv2dMaxPool2dWeightGradientOptions : Conv2dMaxPool2dOptions {
  Pair kernel_size = 1;
  template <class Field>
  static void describe(Field& field) {
    Conv2dMaxPool2dOptions::describe(field);
    field("kernel_size", &Conv2dMaxPool2dWeightGradientOptions::kernel_size, "height and width of w");
  }
};

}  // namespace treadle
