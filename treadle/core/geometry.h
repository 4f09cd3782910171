/// Pair and Pads: window geometry per axis, as ONNX can say it. Light: device files include it.
#pragma once

#include <cstdint>

namespace treadle {

/// One number per spatial axis; a single number stands for both.
struct Pair {
  int64_t height = 1, width = 1;
  constexpr Pair(int64_t both = 1) : height(both), width(both) {}
  constexpr Pair(int64_t height, int64_t width) : height(height), width(width) {}
  constexpr bool operator==(const Pair&) const = default;
};

/// Padding at the begin and end of each spatial axis.
struct Pads {
  int64_t top = 0, left = 0, bottom = 0, right = 0;
  constexpr Pads(int64_t all = 0) : top(all), left(all), bottom(all), right(all) {}
  constexpr Pads(Pair symmetric)
      : top(symmetric.height), left(symmetric.width), bottom(symmetric.height), right(symmetric.width) {}
  constexpr Pads(int64_t top, int64_t left, int64_t bottom, int64_t right)
      : top(top), left(left), bottom(bottom), right(right) {}
  constexpr bool operator==(const Pads&) const = default;
};

/// Largest stride, dilation or padding that an op takes, so that positions cannot overflow.
inline constexpr int64_t kMostGeometry = int64_t(1) << 30;

/// Positions of a window of `kernel` elements, `dilation` apart, along an axis of `size` padded by begin +
/// end.
constexpr int64_t window_positions(int64_t size, int64_t begin, int64_t end, int64_t kernel, int64_t stride,
                                   int64_t dilation) {
  if (kernel > 1 && dilation > (size + begin + end) / (kernel - 1)) return 0;  // the product may overflow
  int64_t room = size + begin + end - dilation * (kernel - 1) - 1;
  return room < 0 ? 0 : room / stride + 1;
}

}  // namespace treadle
