/// Rectangles of images.
#pragma once  // public

#include <algorithm>

#include "treadle/data/augmented_example.h"

namespace treadle {

/// Rows [top, bottom) and columns [left, right).
struct PixelRectangle {
  int64_t top, left, bottom, right;

  int64_t pixels() const { return (bottom - top) * (right - left); }
};

/// What lies inside of an image; perhaps nothing.
inline PixelRectangle within(const PixelRectangle& r, const AugmentedExample& image) {
  const int64_t top = std::clamp<int64_t>(r.top, 0, image.height()),
                left = std::clamp<int64_t>(r.left, 0, image.width());
  return {top, left, std::clamp(r.bottom, top, image.height()), std::clamp(r.right, left, image.width())};
}

/// Calls f(first value of a row, how many) for each row of each channel.
template <class F>
void for_each_row_of(const PixelRectangle& r, const AugmentedExample& image, F&& f) {
  for (int64_t c = 0; c < image.channels(); ++c)
    for (int64_t y = r.top; y < r.bottom; ++y)
      f(c * image.plane() + y * image.width() + r.left, r.right - r.left);
}

}  // namespace treadle
