#include <cmath>
#include <numbers>

#include "treadle/data/plane_set.h"

namespace treadle::datasets {
namespace {

/// Around the origin with radius 1, or 1/2.
Point point(int64_t label, int64_t, PointDraw& draw) {
  const double t = draw.uniform(0, 2 * std::numbers::pi), radius = label == 0 ? 1 : 0.5;
  return with_noise({radius * std::cos(t), radius * std::sin(t)}, 0.08, draw);
}

}  // namespace

void register_circles(DatasetRegistry& registry) {
  add_plane_set(registry,
                {.place = 13,
                 .name = "circles",
                 .description = "3,000 points in the plane, on a circle and one around it",
                 .classes = {"outer", "inner"}},
                point);
}

}  // namespace treadle::datasets
