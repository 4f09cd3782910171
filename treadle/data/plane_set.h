/// Sets of points in the plane, drawn by a seed: small problems whose solution one can look at. Internal to
/// data/.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "treadle/data/batches.h"
#include "treadle/data/dataset_registry.h"

namespace treadle {

/// Random numbers of one point, which depend on the seed and the point's number alone.
class PointDraw {
 public:
  explicit PointDraw(uint64_t key) : random_(key) {}
  /// Uniform in [low, high).
  double uniform(double low, double high);
  /// Of mean 0 and deviation 1, as the sum of twelve uniform numbers (Irwin, Hall): such sums are the same on
  /// every machine, and none is beyond 6.
  double normal();
  /// -1 or 1.
  double sign() { return random_.below(2) == 0 ? -1 : 1; }

 private:
  SplitMix64 random_;
};

struct Point {
  double x = 0, y = 0;
};

/// A point of class `label` out of `classes`.
using DrawPoint = std::function<Point(int64_t label, int64_t classes, PointDraw& draw)>;

/// Adds the noise of a normal distribution.
Point with_noise(Point point, double deviation, PointDraw& draw);

/// Adds a set of 2,000 points to train on and 1,000 to test; labels go around, so that classes are equally
/// frequent. `declaration` says the rest; its make() is made of `point`.
void add_plane_set(DatasetRegistry& registry, DatasetDeclaration declaration, DrawPoint point);

}  // namespace treadle
