#include <cmath>
#include <numbers>

#include "treadle/data/plane_set.h"

namespace treadle::datasets {
namespace {

/// Arms of 3/4 of a turn, r = t; each class has the one before, turned by an equal part of the circle.
Point point(int64_t label, int64_t classes, PointDraw& draw) {
  const double radius = draw.uniform(0.05, 1);
  const double angle = 2 * std::numbers::pi * (0.75 * radius + double(label) / double(classes));
  return with_noise({radius * std::cos(angle), radius * std::sin(angle)}, 0.02, draw);
}

}  // namespace

/// After Lang, Witbrock: "Learning to Tell Two Spirals Apart", 1988, with any number of arms.
void register_spirals(DatasetRegistry& registry) {
  add_plane_set(registry,
                {.place = 14,
                 .name = "spirals",
                 .description = "3,000 points in the plane, on the arms of a spiral: 3, or K by spirals:K",
                 .classes = {"0", "1", "2"},
                 .most_classes = 10},
                point);
}

}  // namespace treadle::datasets
