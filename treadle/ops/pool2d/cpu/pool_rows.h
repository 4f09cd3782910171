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

/// The same for windows of so many channels, which lie side by side: channel c of tap t of window i is the
/// element at first[t] + i·step + c. y and argmax are [window][channel].
void max_of_taps(const RowTaps<const float*>& taps, int64_t windows, int64_t channels, float* y,
                 int32_t* argmax);

/// Adds dy [window][channel] to the tap of its window whose position is argmax's, if there is one.
void add_at_argmax(const RowTaps<float*>& taps, int64_t windows, int64_t channels, const float* dy,
                   const int32_t* argmax);

}  // namespace treadle::cpu
