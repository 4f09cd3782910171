/// Learning-rate schedules as functions of the step.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "treadle/core/export.h"

namespace treadle {

/// A learning rate for each step of a run.
class TREADLE_API Schedule {
 public:
  /// The same rate throughout.
  static Schedule constant(double rate) { return {Kind::constant, rate, 1}; }
  /// rate·(1 + cos(π·step / total)) / 2: from `rate` to 0. Loshchilov and Hutter, SGDR, 2017.
  static Schedule cosine(double rate, int64_t total_steps) { return {Kind::cosine, rate, total_steps}; }
  /// `constant` or `cosine`. Throws ValueError listing them.
  static Schedule named(const std::string& name, double rate, int64_t total_steps);

  double at(int64_t step) const;

 private:
  enum class Kind { constant, cosine };
  Schedule(Kind kind, double rate, int64_t total_steps)
      : kind_(kind), rate_(rate), total_steps_(total_steps) {}

  Kind kind_;
  double rate_;
  int64_t total_steps_;
};

TREADLE_API std::vector<std::string> known_schedules();

}  // namespace treadle
