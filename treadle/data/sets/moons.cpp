#include <cmath>
#include <numbers>

#include "treadle/data/plane_set.h"

namespace treadle::datasets {
namespace {

/// An upper half of the unit circle, and a lower one that reaches into it: (cos t, sin t) and
/// (1 - cos t, 1/2 - sin t).
Point point(int64_t label, int64_t, PointDraw& draw) {
  const double t = draw.uniform(0, std::numbers::pi);
  const Point upper{std::cos(t), std::sin(t)}, lower{1 - std::cos(t), 0.5 - std::sin(t)};
  return with_noise(label == 0 ? upper : lower, 0.1, draw);
}

}  // namespace

void register_moons(DatasetRegistry& registry) {
  add_plane_set(registry,
                {.place = 12,
                 .name = "moons",
                 .description = "3,000 points in the plane, on two arcs that reach into each other",
                 .classes = {"upper", "lower"}},
                point);
}

}  // namespace treadle::datasets
