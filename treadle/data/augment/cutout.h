#pragma once  // public

#include <algorithm>

#include "treadle/data/augmentation_kind.h"
#include "treadle/data/pixel_rectangle.h"

namespace treadle {

/// A square of `size` pixels around any pixel of the image becomes `fill`; what lies outside is cut. DeVries
/// and Taylor, Improved Regularization of Convolutional Neural Networks with Cutout, 2017.
struct CutoutAugmentation {
  static constexpr const char *kAugmentationName = "cutout", *kSummary = "blank out a square";
  static constexpr Augmentable kTakes = Augmentable::planes;
  static constexpr double kNanoseconds = 0.1;
  int64_t size = 8;
  double probability = 1, fill = 0;

  template <class Field>
  static void describe(Field& field) {
    field("size", &CutoutAugmentation::size, "pixels of its side");
    field("probability", &CutoutAugmentation::probability, "of a square");
    field("fill", &CutoutAugmentation::fill, "its value; a pixel lies in [0, 1]");
  }
  void check() const {
    augmentations::require_least("the size", double(size), 1);
    augmentations::require_probability(probability);
    augmentations::require_finite("the fill", fill);
  }
  void apply(AugmentedExample& example, AugmentationRandom& random) const {
    if (!random.chance(probability)) return;
    const int64_t top = random.below(example.height()) - size / 2;
    const int64_t left = random.below(example.width()) - size / 2;
    for_each_row_of(
        within({top, left, top + size, left + size}, example), example,
        [&](int64_t first, int64_t count) { std::fill_n(example.values + first, count, float(fill)); });
  }
};

}  // namespace treadle
