#pragma once  // public

#include "treadle/data/affine_map.h"
#include "treadle/data/augmentation_kind.h"

namespace treadle {

/// Turned by an angle of [-degrees, degrees], shifted by up to the shares `shift` of width and height, scaled
/// by a factor of [1 - scale, 1 + scale] and sheared along x by up to `shear` degrees, about the centre,
/// bilinear: torchvision's RandomAffine(degrees, (shift, shift), (1 - scale, 1 + scale), shear,
/// InterpolationMode.BILINEAR, fill), but shifts are not rounded to whole pixels.
struct AffineAugmentation {
  static constexpr const char *kAugmentationName = "affine", *kSummary = "turn, shift, scale and shear";
  static constexpr Augmentable kTakes = Augmentable::planes;
  static constexpr double kNanoseconds = 7.5;
  static constexpr double kMostShear = 89;
  double degrees = 10, shift = 0.1, scale = 0.1, shear = 0, fill = 0;

  template <class Field>
  static void describe(Field& field) {
    using A = AffineAugmentation;
    field("degrees", &A::degrees, "the largest angle, either way");
    field("shift", &A::shift, "the largest shift, as a share of width and height");
    field("scale", &A::scale, "how far the factor of the size may be from 1");
    field("shear", &A::shear, "the largest angle of the shear along x");
    field("fill", &A::fill, "what lies around the image; a pixel lies in [0, 1]");
  }
  void check() const {
    augmentations::require_least("the angle", degrees, 0);
    augmentations::require_least("the shift", shift, 0);
    augmentations::require_least("the scale", scale, 0);
    augmentations::require_least("the shear", shear, 0);
    require<ValueError>(scale < 1, "the scale is {}; it must be below 1", scale);
    require<ValueError>(shear <= kMostShear, "the shear is {}; it must be at most {} degrees", shear,
                        kMostShear);
    augmentations::require_finite("the fill", fill);
  }
  void apply(AugmentedExample& example, AugmentationRandom& random) const {
    const double right = shift * double(example.width()), down = shift * double(example.height());
    AffineChange change;
    change.degrees = random.uniform(-degrees, degrees);
    change.right = random.uniform(-right, right), change.down = random.uniform(-down, down);
    change.scale = random.uniform(1 - scale, 1 + scale);
    change.shear_x = random.uniform(-shear, shear);
    move_pixels(example, inverse_of(change), float(fill));
  }
};

}  // namespace treadle
