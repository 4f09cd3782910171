#pragma once  // public

#include <algorithm>

#include "treadle/data/augmentation_kind.h"

namespace treadle {

/// Left and right exchanged with some probability: torchvision's RandomHorizontalFlip(p).
struct FlipAugmentation {
  static constexpr const char *kAugmentationName = "flip", *kSummary = "exchange left and right";
  static constexpr Augmentable kTakes = Augmentable::planes;
  static constexpr double kNanoseconds = 0.2;
  double probability = 0.5;

  template <class Field>
  static void describe(Field& field) {
    field("probability", &FlipAugmentation::probability, "of a flip");
  }
  void check() const { augmentations::require_probability(probability); }
  void apply(AugmentedExample& example, AugmentationRandom& random) const {
    if (!random.chance(probability)) return;
    const int64_t width = example.width();
    for (float *row = example.values, *end = row + example.shape.numel(); row < end; row += width)
      std::reverse(row, row + width);
  }
};

}  // namespace treadle
