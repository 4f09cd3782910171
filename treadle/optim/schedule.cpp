#include "treadle/optim/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "treadle/core/error.h"

namespace treadle {

std::vector<std::string> known_schedules() { return {"constant", "cosine"}; }

Schedule Schedule::named(const std::string& name, double rate, int64_t total_steps) {
  if (name == "constant") return constant(rate);
  if (name == "cosine") return cosine(rate, total_steps);
  throw ValueError(fmt::format("no schedule is called '{}'; known are constant cosine", name));
}

double Schedule::at(int64_t step) const {
  if (kind_ == Kind::constant) return rate_;
  double progress = std::min(double(step) / double(std::max<int64_t>(total_steps_, 1)), 1.0);
  return rate_ * (1 + std::cos(std::numbers::pi * progress)) / 2;
}

}  // namespace treadle
