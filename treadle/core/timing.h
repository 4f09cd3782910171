/// Times: seconds of a steady clock, and the median of several.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <vector>

namespace treadle {

/// Since any moment.
inline double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// 0 of none.
inline double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + int64_t(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace treadle
