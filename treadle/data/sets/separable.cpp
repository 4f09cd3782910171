#include "treadle/data/plane_set.h"

namespace treadle::datasets {
namespace {

/// At distances from the line that leave a gap of 0.2; the line, 0.6 x + 0.8 y = 0.5, misses the origin.
Point point(int64_t label, int64_t, PointDraw& draw) {
  const double distance = draw.uniform(0.1, 1) * (label == 0 ? -1 : 1), along = draw.uniform(-1, 1);
  return {0.6 * (0.5 + distance) - 0.8 * along, 0.8 * (0.5 + distance) + 0.6 * along};
}

}  // namespace

void register_separable(DatasetRegistry& registry) {
  add_plane_set(registry,
                {.place = 10,
                 .name = "separable",
                 .description = "3,000 points in the plane, on both sides of a line",
                 .classes = {"below", "above"}},
                point);
}

}  // namespace treadle::datasets
