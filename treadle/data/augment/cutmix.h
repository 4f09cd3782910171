#pragma once  // public

#include <algorithm>
#include <cmath>

#include "treadle/data/augmentation_kind.h"
#include "treadle/data/pixel_rectangle.h"

namespace treadle {

/// A rectangle of the image is that of another one, and the label a mixture by the areas. Its sides are
/// √(1 - λ) of the image's, λ of Beta(alpha, alpha), and its centre is any pixel; what lies outside is cut.
/// Yun et al., CutMix, 2019, as torchvision's CutMix(alpha) but with a λ and a partner for each example.
struct CutmixAugmentation {
  static constexpr const char *kAugmentationName = "cutmix", *kSummary = "paste a piece of another image";
  static constexpr Augmentable kTakes = Augmentable::planes;
  static constexpr double kNanoseconds = 1;
  double alpha = 1;

  template <class Field>
  static void describe(Field& field) {
    field("alpha", &CutmixAugmentation::alpha, "of the distribution Beta(alpha, alpha) of the share");
  }
  void check() const {
    require<ValueError>(alpha > 0 && std::isfinite(alpha), "alpha is {}; it must be positive", alpha);
  }
  double mix(AugmentedExample& example, const AugmentedExample& partner, AugmentationRandom& random) const {
    const double half = std::sqrt(1 - random.beta(alpha)) / 2;
    const int64_t y = random.below(example.height()), x = random.below(example.width());
    const auto height = int64_t(half * double(example.height())),
               width = int64_t(half * double(example.width()));
    const PixelRectangle piece = within({y - height, x - width, y + height, x + width}, example);
    for_each_row_of(piece, example, [&](int64_t first, int64_t count) {
      std::copy_n(partner.values + first, count, example.values + first);
    });
    return 1 - double(piece.pixels()) / double(example.plane());
  }
};

}  // namespace treadle
