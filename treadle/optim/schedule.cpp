#include "treadle/optim/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "treadle/core/error.h"
#include "treadle/core/nearest_name.h"

namespace treadle {
namespace {

double cosine_share(int64_t step, int64_t total) {
  double progress = std::min(double(step) / double(std::max<int64_t>(total, 1)), 1.0);
  return (1 + std::cos(std::numbers::pi * progress)) / 2;
}

double triangle_share(int64_t step, int64_t total, double warm_up) {
  double progress = std::min(double(step + 1) / double(std::max<int64_t>(total, 0) + 1), 1.0);
  return progress < warm_up ? progress / warm_up : (1 - progress) / (1 - warm_up);
}

}  // namespace

std::vector<std::string> known_schedules() { return {"constant", "cosine", "linear", "one-cycle"}; }

Schedule::Schedule(Kind kind, double rate, int64_t total_steps, double warm_up)
    : kind_(kind), rate_(rate), total_steps_(total_steps), warm_up_(warm_up) {
  require<ValueError>(rate >= 0 && std::isfinite(rate),
                      "a schedule's learning rate is {}; it must be finite and not negative", rate);
  require<ValueError>(total_steps >= 0, "a schedule cannot last {} steps", total_steps);
}

Schedule Schedule::one_cycle(double rate, int64_t total_steps, double warm_up) {
  require<ValueError>(warm_up >= 0 && warm_up < 1, "a warm-up of {} of the steps is not within [0, 1)",
                      warm_up);
  return Schedule(Kind::one_cycle, rate, total_steps, warm_up);
}

Schedule Schedule::named(const std::string& name, double rate, int64_t total_steps, double warm_up) {
  if (name == "constant") return constant(rate);
  if (name == "cosine") return cosine(rate, total_steps);
  if (name == "linear") return linear(rate, total_steps);
  if (name == "one-cycle") return one_cycle(rate, total_steps, warm_up);
  throw ValueError(unknown_name("no schedule is called", name, known_schedules()));
}

double Schedule::at(int64_t step) const {
  require<ValueError>(step >= 0, "steps of a schedule count from 0, not {}", step);
  switch (kind_) {
    case Kind::constant:
      return rate_;
    case Kind::cosine:
      return rate_ * cosine_share(step, total_steps_);
    case Kind::one_cycle:
      return rate_ * triangle_share(step, total_steps_, warm_up_);
  }
  return rate_;
}

}  // namespace treadle
