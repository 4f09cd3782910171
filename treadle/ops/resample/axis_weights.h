/// How the places of an axis are weighted sums of those of an axis of another extent. All in integers but the
/// weights, so that every device chooses the same places. Plain data: passed to kernels by value.
#pragma once

#include <cstdint>

#include "treadle/ops/resample/interpolate2d_options.h"
#include "treadle/simt/function_qualifiers.h"

namespace treadle {

enum class AxisMode : uint8_t { nearest, linear, linear_aligned, area };

/// `mode` must be one that interpolate2d takes.
inline AxisMode axis_mode(const InterpolateOptions& options) {
  if (options.mode == "area") return AxisMode::area;
  if (options.mode == "nearest") return AxisMode::nearest;
  return options.align_corners ? AxisMode::linear_aligned : AxisMode::linear;
}

/// Places [begin, end).
struct PlaceRange {
  int64_t begin, end;
};

struct AxisWeights {
  AxisMode mode;
  int64_t from, to;  ///< extents before and after

  /// The places before that place i after is made of. They move on with i.
  TREADLE_DEVICE PlaceRange sources(int64_t i) const {
    if (mode == AxisMode::area) return {i * from / to, ((i + 1) * from + to - 1) / to};
    const int64_t first = numerator(i) / denominator();
    return {first, first + (remainder(i) > 0 && first + 1 < from ? 2 : 1)};
  }
  /// The weight of place `source` there.
  template <class C>
  TREADLE_DEVICE C weight(int64_t i, int64_t source) const {
    const PlaceRange range = sources(i);
    if (mode == AxisMode::area) return C(1) / C(range.end - range.begin);
    if (range.end - range.begin == 1) return C(1);
    const int64_t behind = remainder(i);
    return C(source == range.begin ? denominator() - behind : behind) / C(denominator());
  }
  /// The places after that are made of `source`, among others.
  TREADLE_DEVICE PlaceRange targets(int64_t source) const {
    return {first_place([&](int64_t i) { return sources(i).end > source; }),
            first_place([&](int64_t i) { return sources(i).begin > source; })};
  }

 private:
  /// Place i after lies at numerator / denominator before.
  TREADLE_DEVICE int64_t numerator(int64_t i) const {
    if (mode == AxisMode::nearest) return i * from;
    if (mode == AxisMode::linear_aligned) return i * (from - 1);
    const int64_t centre = (2 * i + 1) * from - to;
    return centre > 0 ? centre : 0;
  }
  TREADLE_DEVICE int64_t denominator() const {
    if (mode == AxisMode::nearest) return to;
    if (mode == AxisMode::linear_aligned) return to > 1 ? to - 1 : 1;
    return 2 * to;
  }
  TREADLE_DEVICE int64_t remainder(int64_t i) const {
    return mode == AxisMode::nearest ? 0 : numerator(i) % denominator();
  }
  /// The first place after for which `holds`, as for all behind it; by halving.
  template <class Holds>
  TREADLE_DEVICE int64_t first_place(Holds holds) const {
    int64_t begin = 0, end = to;
    while (begin < end) {
      const int64_t middle = (begin + end) / 2;
      if (holds(middle))
        end = middle;
      else
        begin = middle + 1;
    }
    return begin;
  }
};

}  // namespace treadle
