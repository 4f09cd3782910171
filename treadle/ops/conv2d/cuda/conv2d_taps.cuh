/// Numbering of taps and places for products whose operands are gathered. Included by .cu files only.
#pragma once

#include "treadle/ops/conv2d/conv2d_geometry.h"
#include "treadle/ops/device_variant.h"

namespace treadle::TREADLE_TARGET {

/// A channel or filter of the group and a place in the window.
struct Tap {
  int feature, r, s;
};

/// Tap number `index`; features lie innermost where the tensor they are read from is channels-last.
__device__ inline Tap tap_at(const Conv2dGeometry& g, int index, int features, bool features_innermost) {
  const int R = int(g.R), S = int(g.S);
  if (features_innermost) return {index % features, index / features / S, index / features % S};
  return {index / S / R, index / S % R, index % S};
}

/// Image and place number `index` of planes of `height` × `width`.
struct Place {
  int n, h, w;
};
__device__ inline Place place_at(int index, int height, int width) {
  return {index / width / height, index / width % height, index % width};
}

}  // namespace treadle::TREADLE_TARGET
