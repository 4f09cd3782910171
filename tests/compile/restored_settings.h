/// Settings that a test changes.
#pragma once

#include "treadle/graph/settings.h"

namespace treadle {

/// Puts the settings back as they were.
class RestoredSettings {
 public:
  RestoredSettings() = default;
  RestoredSettings(const RestoredSettings&) = delete;
  ~RestoredSettings() { settings() = before_; }

 private:
  Settings before_ = settings();
};

/// For tests that compare the bits of two runs: variants are not measured, for two measurements may choose
/// two.
class DeterministicRuns : RestoredSettings {
 public:
  DeterministicRuns() { settings().deterministic = true; }
};

}  // namespace treadle
