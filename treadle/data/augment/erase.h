#pragma once  // public

#include <algorithm>
#include <cmath>

#include "treadle/data/augmentation_kind.h"
#include "treadle/data/pixel_rectangle.h"

namespace treadle {

/// A rectangle within the image becomes `fill`: its share of the area is one of [smallest, largest], the
/// logarithm of its height over its width one of ±ln `ratio`. torchvision's RandomErasing(p, scale, ratio,
/// value), which leaves images as they are where ten rectangles do not fit. Zhong et al., Random Erasing Data
/// Augmentation, 2017.
struct EraseAugmentation {
  static constexpr const char *kAugmentationName = "erase", *kSummary = "blank out a rectangle";
  static constexpr Augmentable kTakes = Augmentable::planes;
  static constexpr double kNanoseconds = 0.1;
  static constexpr int kTries = 10;
  double probability = 0.5, smallest = 0.02, largest = 0.33, ratio = 3.3, fill = 0;

  template <class Field>
  static void describe(Field& field) {
    using E = EraseAugmentation;
    field("probability", &E::probability, "of a rectangle");
    field("smallest", &E::smallest, "share of the area");
    field("largest", &E::largest, "share of the area");
    field("ratio", &E::ratio, "the largest of the two sides' ratio");
    field("fill", &E::fill, "its value; a pixel lies in [0, 1]");
  }
  void check() const {
    augmentations::require_probability(probability);
    require<ValueError>(smallest > 0 && smallest <= largest && largest <= 1,
                        "shares of the area from {} to {} are no part of (0, 1]", smallest, largest);
    augmentations::require_least("the ratio", ratio, 1);
    augmentations::require_finite("the fill", fill);
  }
  void apply(AugmentedExample& example, AugmentationRandom& random) const {
    if (!random.chance(probability)) return;
    for (int i = 0; i < kTries; ++i) {
      const double area = double(example.plane()) * random.uniform(smallest, largest);
      const double aspect = std::exp(random.uniform(-std::log(ratio), std::log(ratio)));
      const auto height = int64_t(std::round(std::sqrt(area * aspect))),
                 width = int64_t(std::round(std::sqrt(area / aspect)));
      if (height >= example.height() || width >= example.width()) continue;
      const int64_t top = random.below(example.height() - height + 1),
                    left = random.below(example.width() - width + 1);
      for_each_row_of({top, left, top + height, left + width}, example, [&](int64_t first, int64_t count) {
        std::fill_n(example.values + first, count, float(fill));
      });
      return;
    }
  }
};

}  // namespace treadle
