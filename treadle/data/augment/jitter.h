#pragma once  // public

#include <algorithm>
#include <utility>

#include "treadle/data/augmentation_kind.h"

namespace treadle {

/// Brightness, contrast and saturation each multiplied by a factor of [max(0, 1 - s), 1 + s], s its strength,
/// in a random order, and pixels cut to [0, 1]: torchvision's ColorJitter on tensors. Brightness scales
/// pixels, contrast their distances from the mean grey of the image, saturation those from each pixel's grey.
/// Grey is 0.2989 R + 0.587 G + 0.114 B; images of other than three channels are grey ones already, whose
/// saturation stays.
struct JitterAugmentation {
  static constexpr const char *kAugmentationName = "jitter",
                              *kSummary = "change brightness, contrast and saturation";
  static constexpr Augmentable kTakes = Augmentable::images;
  static constexpr double kNanoseconds = 2;
  double brightness = 0.2, contrast = 0.2, saturation = 0.2;

  template <class Field>
  static void describe(Field& field) {
    using J = JitterAugmentation;
    field("brightness", &J::brightness, "strength of its change");
    field("contrast", &J::contrast, "strength of its change");
    field("saturation", &J::saturation, "strength of its change");
  }
  void check() const {
    augmentations::require_least("the brightness", brightness, 0);
    augmentations::require_least("the contrast", contrast, 0);
    augmentations::require_least("the saturation", saturation, 0);
  }
  void apply(AugmentedExample& example, AugmentationRandom& random) const {
    enum { kBrightness, kContrast, kSaturation };
    int order[] = {kBrightness, kContrast, kSaturation};
    for (int i = 2; i > 0; --i) std::swap(order[i], order[random.below(i + 1)]);
    auto factor = [&](double strength) {
      return float(random.uniform(std::max(0.0, 1 - strength), 1 + strength));
    };
    for (int change : order) {
      if (change == kBrightness) change_brightness(example, factor(brightness));
      if (change == kContrast) change_contrast(example, factor(contrast));
      if (change == kSaturation) change_saturation(example, factor(saturation));
    }
  }

  static void change_brightness(AugmentedExample& example, float factor) {
    blend(example, factor, [](int64_t) { return 0.0f; });
  }
  static void change_contrast(AugmentedExample& example, float factor) {
    double sum = 0;
    if (example.channels() == kColours)
      for (int64_t i = 0; i < example.plane(); ++i) sum += double(grey_of(example, i));
    else
      for (int64_t i = 0; i < example.shape.numel(); ++i) sum += double(example.values[i]);
    const int64_t count = example.channels() == kColours ? example.plane() : example.shape.numel();
    const float mean = float(sum / double(count));
    blend(example, factor, [mean](int64_t) { return mean; });
  }
  static void change_saturation(AugmentedExample& example, float factor) {
    if (example.channels() != kColours) return;
    for (int64_t i = 0; i < example.plane(); ++i) example.room[i] = grey_of(example, i);
    blend(example, factor, [room = example.room](int64_t place) { return room[place]; });
  }

 private:
  static constexpr int64_t kColours = 3;

  static float grey_of(const AugmentedExample& example, int64_t place) {
    const float* x = example.values + place;
    return 0.2989f * x[0] + 0.587f * x[example.plane()] + 0.114f * x[2 * example.plane()];
  }
  /// factor·x + (1 - factor)·other(place in the plane), cut to [0, 1].
  template <class Other>
  static void blend(AugmentedExample& example, float factor, Other other) {
    for (int64_t c = 0; c < example.channels(); ++c) {
      float* values = example.values + c * example.plane();
      for (int64_t i = 0; i < example.plane(); ++i)
        values[i] = std::clamp(factor * values[i] + (1 - factor) * other(i), 0.0f, 1.0f);
    }
  }
};

}  // namespace treadle
