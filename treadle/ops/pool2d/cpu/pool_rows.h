/// The inner loops of max-pooling in SIMD instructions chosen at run time: one row of windows, whose places
/// lie evenly in memory.
#pragma once

#include <cstdint>

namespace treadle::cpu {

/// The taps of the windows of a row: tap t of window i is the element at first[t] + i·step, whose position in
/// its plane is positions[t] + i·position_step.
template <class Pointer>
struct RowTaps {
  int64_t count = 0;
  const Pointer* first = nullptr;
  const int32_t* positions = nullptr;
  int64_t step = 1;
  int32_t position_step = 0;
};

/// y[i] = the largest tap of window i, argmax[i] = the position of the first such tap; NaN counts as largest.
/// At least one tap.
void max_of_taps(const RowTaps<const float*>& taps, int64_t windows, float* y, int32_t* argmax);

/// Adds dy[i] to the tap of window i whose position is argmax[i], if there is one. Steps must be 1 and 0.
void add_at_argmax(const RowTaps<float*>& taps, int64_t windows, const float* dy, const int32_t* argmax);

}  // namespace treadle::cpu
