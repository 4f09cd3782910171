/// Ranges of items, and the one way in which they are cut into parts for threads.
#pragma once

#include <algorithm>
#include <cstdint>

namespace treadle {

/// Items [begin, end).
struct Range {
  int64_t begin = 0, end = 0;
  constexpr int64_t size() const { return end - begin; }
};

/// `count` items cut into at most `wanted` parts, at multiples of `step`. Their sizes differ by one step at
/// most, beside a last step that is not whole. No part is empty: of fewer steps than `wanted` there are fewer
/// parts, and of no items there is none.
class Cut {
 public:
  constexpr Cut(int64_t count, int64_t wanted, int64_t step = 1)
      : count_(count),
        step_(step),
        steps_((count + step - 1) / step),
        parts_(std::min(steps_, std::max<int64_t>(wanted, 1))) {}

  constexpr int64_t parts() const { return parts_; }
  /// Part `index` of [0, parts()).
  constexpr Range operator[](int64_t index) const { return {begin_of(index), begin_of(index + 1)}; }

 private:
  constexpr int64_t begin_of(int64_t index) const {
    return std::min(steps_ * index / parts_ * step_, count_);
  }

  int64_t count_, step_, steps_, parts_;
};

}  // namespace treadle
