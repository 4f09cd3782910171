#pragma once  // public

#include "treadle/data/affine_map.h"
#include "treadle/data/augmentation_kind.h"

namespace treadle {

/// Turned about the centre by an angle of [-degrees, degrees], bilinear: torchvision's
/// RandomRotation(degrees, InterpolationMode.BILINEAR, fill=fill).
struct RotateAugmentation {
  static constexpr const char *kAugmentationName = "rotate", *kSummary = "turn by a small angle";
  static constexpr Augmentable kTakes = Augmentable::planes;
  static constexpr double kNanoseconds = 7.5;
  double degrees = 10, fill = 0;

  template <class Field>
  static void describe(Field& field) {
    field("degrees", &RotateAugmentation::degrees, "the largest angle, either way");
    field("fill", &RotateAugmentation::fill, "what lies around the image; a pixel lies in [0, 1]");
  }
  void check() const {
    augmentations::require_least("the angle", degrees, 0);
    augmentations::require_finite("the fill", fill);
  }
  void apply(AugmentedExample& example, AugmentationRandom& random) const {
    const double angle = random.uniform(-degrees, degrees);
    if (angle != 0) move_pixels(example, inverse_of({.degrees = angle}), float(fill));
  }
};

}  // namespace treadle
