#include "treadle/data/plane_set.h"

namespace treadle {
namespace {

constexpr int64_t kTrainPoints = 2000, kTestPoints = 1000;

/// Points first, first + 1, … of the seed.
ImageDataset draw_points(const DrawPoint& point, uint64_t seed, int64_t first, int64_t count,
                         int64_t classes) {
  ImageDataset part;
  part.image_shape = {2};
  for (int64_t i = 0; i < count; ++i) {
    PointDraw draw(SplitMix64::mix(SplitMix64::mix(seed) + uint64_t(first + i)));
    const int64_t label = i % classes;
    const Point drawn = point(label, classes, draw);
    part.labels.push_back(int32_t(label));
    part.values.insert(part.values.end(), {float(drawn.x), float(drawn.y)});
  }
  return part;
}

std::vector<std::string> class_names(const DatasetDeclaration& set, int64_t classes) {
  if (classes == int64_t(set.classes.size())) return set.classes;
  std::vector<std::string> names;
  for (int64_t i = 0; i < classes; ++i) names.push_back(std::to_string(i));
  return names;
}

}  // namespace

double PointDraw::uniform(double low, double high) {
  return low + (high - low) * (double(random_.next() >> 11) * 0x1p-53);
}

double PointDraw::normal() {
  double sum = -6;
  for (int i = 0; i < 12; ++i) sum += uniform(0, 1);
  return sum;
}

Point with_noise(Point point, double deviation, PointDraw& draw) {
  point.x += deviation * draw.normal();
  point.y += deviation * draw.normal();
  return point;
}

void add_plane_set(DatasetRegistry& registry, DatasetDeclaration declaration, DrawPoint point) {
  declaration.make = [set = declaration, point = std::move(point)](uint64_t seed, int64_t classes) {
    DatasetSplits splits{draw_points(point, seed, 0, kTrainPoints, classes),
                         draw_points(point, seed, kTrainPoints, kTestPoints, classes)};
    for (ImageDataset* part : {&splits.train, &splits.test})
      part->name = set.name, part->classes = class_names(set, classes);
    return splits;
  };
  registry.add(std::move(declaration));
}

}  // namespace treadle
