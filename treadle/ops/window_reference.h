/// How windows lie over images, for references: written from the definition and used by nothing else, so that
/// a mistake in what the variants share does not agree with itself.
#pragma once

#include <cstdint>
#include <vector>

#include "treadle/core/geometry.h"
#include "treadle/core/shape.h"

namespace treadle::reference {

/// One axis of an image, and the windows of taps over it.
struct WindowAxis {
  int64_t size, taps, step, spread, before, after;

  /// Windows that fit into the padded axis.
  int64_t windows() const {
    int64_t count = 0;
    for (int64_t first = -before; first + (taps - 1) * spread < size + after; first += step) ++count;
    return count;
  }
  /// The place under a window's tap; -1 in the padding.
  int64_t place(int64_t window, int64_t tap) const {
    const int64_t place = window * step + tap * spread - before;
    return place >= 0 && place < size ? place : -1;
  }
};

struct Windows {
  WindowAxis rows, columns;

  int64_t places() const { return rows.size * columns.size; }
  int64_t taps() const { return rows.taps * columns.taps; }
  int64_t count() const { return rows.windows() * columns.windows(); }
  /// The same for numbers that count row by row.
  int64_t place(int64_t window, int64_t tap) const {
    const int64_t row = rows.place(window / columns.windows(), tap / columns.taps),
                  column = columns.place(window % columns.windows(), tap % columns.taps);
    return row < 0 || column < 0 ? -1 : row * columns.size + column;
  }
};

/// Windows over the last two axes of a shape.
inline Windows windows_over(const Shape& x, Pair kernel, Pair stride, const Pads& padding, Pair dilation) {
  return {{x[2], kernel.height, stride.height, dilation.height, padding.top, padding.bottom},
          {x[3], kernel.width, stride.width, dilation.width, padding.left, padding.right}};
}

/// [N,C,H,W] → [N,channels,P,Q].
inline Shape windows_shape(const Shape& x, int64_t channels, const Windows& windows) {
  return {x[0], channels, windows.rows.windows(), windows.columns.windows()};
}

/// A tap that lies inside the image; all count row by row.
struct TapInside {
  int64_t window, tap, place;
};

/// All of them, window by window.
inline std::vector<TapInside> taps_inside(const Windows& windows) {
  std::vector<TapInside> taps;
  const int64_t count = windows.count();
  for (int64_t window = 0; window < count; ++window)
    for (int64_t tap = 0; tap < windows.taps(); ++tap)
      if (const int64_t place = windows.place(window, tap); place >= 0) taps.push_back({window, tap, place});
  return taps;
}

}  // namespace treadle::reference
