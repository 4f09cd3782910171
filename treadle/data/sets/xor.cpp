#include "treadle/data/plane_set.h"

namespace treadle::datasets {
namespace {

/// The class is whether the signs of the coordinates differ; no coordinate is within 0.1 of zero.
Point point(int64_t label, int64_t, PointDraw& draw) {
  const double side = draw.sign(), other = label == 0 ? side : -side;
  return {side * draw.uniform(0.1, 1), other * draw.uniform(0.1, 1)};
}

}  // namespace

/// The problem that no single line solves. Minsky, Papert: "Perceptrons", 1969.
void register_xor(DatasetRegistry& registry) {
  add_plane_set(registry,
                {.place = 11,
                 .name = "xor",
                 .description = "3,000 points in the plane; opposite quadrants belong together",
                 .classes = {"equal", "different"}},
                point);
}

}  // namespace treadle::datasets
