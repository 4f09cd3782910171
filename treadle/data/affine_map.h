/// Moving the pixels of an image by an affine map.
#pragma once  // public

#include <algorithm>
#include <cmath>
#include <numbers>

#include "treadle/data/augmented_example.h"

namespace treadle {

/// A turn, a scaling, a shift and a shear of an image about its centre, as torchvision's affine() takes them.
struct AffineChange {
  double degrees = 0;               ///< clockwise
  double right = 0, down = 0;       ///< pixels
  double scale = 1;                 ///< above 1: larger
  double shear_x = 0, shear_y = 0;  ///< degrees
};

/// Where the value of an output pixel lies in the input, both as seen from the centre:
/// x' = xx·x + xy·y + x0, y' = yx·x + yy·y + y0.
struct AffineMap {
  double xx, xy, x0, yx, yy, y0;
};

/// The inverse of shift · turn · shear · scale.
inline AffineMap inverse_of(const AffineChange& change) {
  constexpr double kRadian = std::numbers::pi / 180;
  const double turn = change.degrees * kRadian, sx = change.shear_x * kRadian, sy = change.shear_y * kRadian;
  const double a = std::cos(turn - sy) / std::cos(sy);
  const double b = -std::cos(turn - sy) * std::tan(sx) / std::cos(sy) - std::sin(turn);
  const double c = std::sin(turn - sy) / std::cos(sy);
  const double d = -std::sin(turn - sy) * std::tan(sx) / std::cos(sy) + std::cos(turn);
  AffineMap map{d / change.scale, -b / change.scale, 0, -c / change.scale, a / change.scale, 0};
  map.x0 = -(map.xx * change.right + map.xy * change.down);
  map.y0 = -(map.yx * change.right + map.yy * change.down);
  return map;
}

/// Where a value lies between the pixels of a row or column.
struct PixelPlace {
  int32_t first;  ///< the pixel before it
  float behind;   ///< how far it lies behind that, in [0, 1)

  /// Of a row of so many pixels; farther than one pixel outside of it all places are alike. The floor is
  /// taken by hand: without SSE 4.1, std::floor is a call.
  static PixelPlace at(float place, int32_t count) {
    place = std::clamp(place, -2.0f, float(count) + 1);
    const auto cut = int32_t(place);
    const int32_t first = cut - (float(cut) > place);
    return {first, place - float(first)};
  }
};

/// Each output pixel from the four input pixels around its place, by the distance (bilinear); `fill` lies
/// around the image. PyTorch's grid_sample(align_corners=False), and torchvision's affine() of tensors, which
/// with a fill weights pixels at the border by their share of the image twice.
inline void move_pixels(AugmentedExample& example, const AffineMap& map, float fill) {
  const auto height = int32_t(example.height()), width = int32_t(example.width());
  const float middle_x = float(width - 1) / 2, middle_y = float(height - 1) / 2;
  const int64_t channels = example.channels(), plane = example.plane();
  const float* const values = example.values;
  float* const room = example.room;
  const auto xx = float(map.xx), yx = float(map.yx);
  auto at = [&](const float* plane_values, int32_t y, int32_t x) {
    return y >= 0 && y < height && x >= 0 && x < width ? plane_values[y * width + x] : fill;
  };
  auto between = [](float a, float b, float share) { return a + share * (b - a); };
  auto blend = [&](const float* from, PixelPlace y, PixelPlace x) {
    if (y.first >= 0 && x.first >= 0 && y.first + 1 < height && x.first + 1 < width) {
      const float* corner = from + y.first * width + x.first;
      return between(between(corner[0], corner[1], x.behind),
                     between(corner[width], corner[width + 1], x.behind), y.behind);
    }
    return between(between(at(from, y.first, x.first), at(from, y.first, x.first + 1), x.behind),
                   between(at(from, y.first + 1, x.first), at(from, y.first + 1, x.first + 1), x.behind),
                   y.behind);
  };
  for (int32_t y = 0; y < height; ++y) {
    const float dy = float(y) - middle_y;
    const float row_x = float(map.xy) * dy + float(map.x0) + middle_x,
                row_y = float(map.yy) * dy + float(map.y0) + middle_y;
    for (int32_t x = 0; x < width; ++x) {
      const float dx = float(x) - middle_x;
      const PixelPlace from_x = PixelPlace::at(xx * dx + row_x, width),
                       from_y = PixelPlace::at(yx * dx + row_y, height);
      for (int64_t c = 0; c < channels; ++c)
        room[c * plane + y * width + x] = blend(values + c * plane, from_y, from_x);
    }
  }
  example.take_room();
}

}  // namespace treadle
