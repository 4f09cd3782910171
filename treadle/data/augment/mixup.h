#pragma once  // public

#include "treadle/data/augmentation_kind.h"

namespace treadle {

/// λ·example + (1 - λ)·another one, λ of Beta(alpha, alpha), for values and label alike. Zhang et al., mixup:
/// Beyond Empirical Risk Minimization, 2018: each example has its own λ and any partner of the data set.
struct MixupAugmentation {
  static constexpr const char *kAugmentationName = "mixup", *kSummary = "blend with another example";
  static constexpr Augmentable kTakes = Augmentable::anything;
  static constexpr double kNanoseconds = 2.1;
  double alpha = 0.2;

  template <class Field>
  static void describe(Field& field) {
    field("alpha", &MixupAugmentation::alpha, "of the distribution Beta(alpha, alpha) of the share");
  }
  void check() const {
    require<ValueError>(alpha > 0 && std::isfinite(alpha), "alpha is {}; it must be positive", alpha);
  }
  double mix(AugmentedExample& example, const AugmentedExample& partner, AugmentationRandom& random) const {
    const auto share = float(random.beta(alpha));
    for (int64_t i = 0; i < example.shape.numel(); ++i)
      example.values[i] = share * example.values[i] + (1 - share) * partner.values[i];
    return double(share);
  }
};

}  // namespace treadle
