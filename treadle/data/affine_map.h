/// Moving the pixels of an image by an affine map.
#pragma once  // public

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

/// Each output pixel from the four input pixels around its place, by the distance (bilinear); `fill` lies
/// around the image. PyTorch's grid_sample(align_corners=False), and torchvision's affine() of tensors, which
/// with a fill weights pixels at the border by their share of the image twice.
inline void move_pixels(AugmentedExample& example, const AffineMap& map, float fill) {
  const int64_t height = example.height(), width = example.width(), plane = example.plane();
  const float middle_x = float(width - 1) / 2, middle_y = float(height - 1) / 2;
  auto at = [&](const float* values, int64_t y, int64_t x) {
    return y >= 0 && y < height && x >= 0 && x < width ? values[y * width + x] : fill;
  };
  for (int64_t y = 0; y < height; ++y)
    for (int64_t x = 0; x < width; ++x) {
      const float dx = float(x) - middle_x, dy = float(y) - middle_y;
      const float px = float(map.xx) * dx + float(map.xy) * dy + float(map.x0) + middle_x;
      const float py = float(map.yx) * dx + float(map.yy) * dy + float(map.y0) + middle_y;
      const float floor_x = std::floor(px), floor_y = std::floor(py);
      const float right = px - floor_x, down = py - floor_y;
      const int64_t left = int64_t(floor_x), top = int64_t(floor_y);
      const bool inside = top >= 0 && left >= 0 && top + 1 < height && left + 1 < width;
      for (int64_t c = 0; c < example.channels(); ++c) {
        const float* values = example.values + c * plane;
        const float* corner = values + top * width + left;
        const float upper_left = inside ? corner[0] : at(values, top, left),
                    upper_right = inside ? corner[1] : at(values, top, left + 1),
                    lower_left = inside ? corner[width] : at(values, top + 1, left),
                    lower_right = inside ? corner[width + 1] : at(values, top + 1, left + 1);
        const float upper = upper_left + right * (upper_right - upper_left);
        const float lower = lower_left + right * (lower_right - lower_left);
        example.room[c * plane + y * width + x] = upper + down * (lower - upper);
      }
    }
  example.take_room();
}

}  // namespace treadle
