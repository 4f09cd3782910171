/// What a kind of schedule is to others.
///
/// A kind is a header schedules/NAME.h that holds a struct …Schedule, which the build finds. It has
///   kScheduleName, kSummary   as users ask for it, and one line
///   describe()         of its options, its members: an option has one meaning and one default in all kinds
///   check()            throws ValueError for options that make no schedule
///   rate(peak, at)     the rate at a moment of a run whose learning rate is `peak`
///   kKept, observe(peak, figure, higher_is_better, kept)
///                      where rates follow a figure of the validation part: the numbers that are kept of it
#pragma once  // public

#include <cmath>
#include <cstdint>
#include <functional>
#include <numbers>
#include <span>
#include <string>
#include <typeinfo>
#include <vector>

#include "treadle/core/error.h"
#include "treadle/graph/options.h"

namespace treadle {

/// Where a run is; the steps of a warm-up are left out of both counts.
struct ScheduleMoment {
  int64_t step, total_steps, steps_per_epoch;
  std::span<const double> kept;  ///< by observe(); empty at first

  int64_t epoch() const { return step / steps_per_epoch; }
};

/// Any kind, behind one type.
struct ScheduleKind {
  std::string name, summary;
  const std::type_info* type;
  const OptionsSchema* options;
  std::function<void(const Attributes&)> check;
  std::function<double(const Attributes&, double peak, const ScheduleMoment&)> rate;
  /// Null where rates follow no figure.
  std::function<void(const Attributes&, double peak, double figure, bool higher_is_better,
                     std::vector<double>& kept)>
      observe = nullptr;
  size_t kept = 0;  ///< numbers that observe() leaves
};

template <class Kind>
ScheduleKind schedule_kind() {
  ScheduleKind kind{Kind::kScheduleName,
                    Kind::kSummary,
                    &typeid(Kind),
                    &schema_of<Kind>(),
                    [](const Attributes& options) { options.as<Kind>().check(); },
                    [](const Attributes& options, double peak, const ScheduleMoment& at) {
                      return options.as<Kind>().rate(peak, at);
                    }};
  if constexpr (requires { Kind::kKept; }) {
    kind.kept = Kind::kKept;
    kind.observe = [](const Attributes& options, double peak, double figure, bool higher_is_better,
                      std::vector<double>& kept) {
      options.as<Kind>().observe(peak, figure, higher_is_better, kept);
    };
  }
  return kind;
}

namespace schedules {

/// (1 + cos π·progress) / 2: from 1 to 0.
inline double half_cosine(double progress) { return (1 + std::cos(std::numbers::pi * progress)) / 2; }

inline void require_share_of_steps(double warm_up) {
  require<ValueError>(warm_up >= 0 && warm_up < 1, "a warm-up of {} of the steps is not within [0, 1)",
                      warm_up);
}

inline void require_rate(double rate) {
  require<ValueError>(rate >= 0 && std::isfinite(rate),
                      "a schedule's learning rate is {}; it must be finite and not negative", rate);
}

inline void require_gamma(double gamma) {
  require<ValueError>(gamma >= 0 && std::isfinite(gamma),
                      "a schedule's gamma is {}; it must be finite and not negative", gamma);
}

inline void require_count(const char* what, int64_t count, int64_t least) {
  require<ValueError>(count >= least, "a schedule's {} is {}; it must be {} or more", what, count, least);
}

}  // namespace schedules
}  // namespace treadle
