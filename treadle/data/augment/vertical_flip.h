#pragma once  // public

#include <algorithm>

#include "treadle/data/augmentation_kind.h"

namespace treadle {

/// Top and bottom exchanged with some probability: torchvision's RandomVerticalFlip(p).
struct VerticalFlipAugmentation {
  static constexpr const char *kAugmentationName = "vertical-flip", *kSummary = "exchange top and bottom";
  static constexpr Augmentable kTakes = Augmentable::planes;
  static constexpr double kNanoseconds = 0.1;
  double probability = 0.5;

  template <class Field>
  static void describe(Field& field) {
    field("probability", &VerticalFlipAugmentation::probability, "of a flip");
  }
  void check() const { augmentations::require_probability(probability); }
  void apply(AugmentedExample& example, AugmentationRandom& random) const {
    if (!random.chance(probability)) return;
    const int64_t width = example.width();
    for (int64_t c = 0; c < example.channels(); ++c) {
      float *top = example.values + c * example.plane(), *bottom = top + example.plane() - width;
      for (; top < bottom; top += width, bottom -= width) std::swap_ranges(top, top + width, bottom);
    }
  }
};

}  // namespace treadle
