/// Timing of repeated work.
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <vector>

namespace treadle::cli {

/// Seconds of each repetition: at least `least` of them, and until `budget` seconds have passed.
inline std::vector<double> time_repeatedly(const std::function<void()>& work, double budget, int64_t least) {
  std::vector<double> seconds;
  double total = 0;
  while (total < budget || int64_t(seconds.size()) < least) {
    auto start = std::chrono::steady_clock::now();
    work();
    seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    total += seconds.back();
  }
  return seconds;
}

/// The value below which a share of the values lies.
inline double quantile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  return values.empty() ? 0 : values[size_t(share * double(values.size() - 1))];
}

}  // namespace treadle::cli
