/// Watching the measurements of variants, which may take seconds when a program first runs, and cutting them
/// short.
#pragma once

#include <functional>
#include <string_view>

#include "treadle/core/export.h"

namespace treadle {

struct MeasuringObserver {
  /// Asked before each timed run of a variant of `op`; false: nothing is measured any more, and calls that
  /// were not measured take the variant that eager calls take. Nothing of an unfinished measurement is kept.
  std::function<bool(std::string_view op)> go_on;
  /// Told when a call's variants are measured, or it was given up.
  std::function<void()> ended;
  /// Seconds since any moment, in place of the process's own clock; null: its own.
  double (*clock)() = nullptr;
};

/// While one lives, measurements that its thread makes tell `observer`; of several the newest.
class TREADLE_API ObserveMeasuring {
 public:
  explicit ObserveMeasuring(MeasuringObserver observer);
  ~ObserveMeasuring();
  ObserveMeasuring(const ObserveMeasuring&) = delete;
  ObserveMeasuring& operator=(const ObserveMeasuring&) = delete;

 private:
  MeasuringObserver observer_;
  const MeasuringObserver* previous_;
};

/// The observer of this thread; null when there is none.
const MeasuringObserver* measuring_observer();

}  // namespace treadle
