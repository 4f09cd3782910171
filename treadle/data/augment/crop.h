#pragma once  // public

#include <algorithm>

#include "treadle/data/augmentation_kind.h"

namespace treadle {

/// A window of the image's own size out of the image with `padding` pixels of `fill` on each side, each place
/// of it equally likely: torchvision's RandomCrop(size, padding).
struct CropAugmentation {
  static constexpr const char *kAugmentationName = "crop",
                              *kSummary = "pad each side, cut the image's size out anywhere";
  static constexpr Augmentable kTakes = Augmentable::planes;
  static constexpr double kNanoseconds = 0.35;
  int64_t padding = 4;
  double fill = 0;

  template <class Field>
  static void describe(Field& field) {
    field("padding", &CropAugmentation::padding, "pixels added on each side");
    field("fill", &CropAugmentation::fill, "their value; a pixel lies in [0, 1]");
  }
  void check() const {
    augmentations::require_least("the padding", double(padding), 0);
    augmentations::require_least("the padding's share of a large image", 65536 - double(padding), 0);
    augmentations::require_finite("the fill", fill);
  }
  void apply(AugmentedExample& example, AugmentationRandom& random) const {
    const int64_t top = random.below(2 * padding + 1) - padding;
    const int64_t left = random.below(2 * padding + 1) - padding;
    if (top == 0 && left == 0) return;
    std::fill_n(example.room, example.shape.numel(), float(fill));
    for (int64_t c = 0; c < example.channels(); ++c) move_plane(example, c * example.plane(), top, left);
    example.take_room();
  }

 private:
  /// room[y][x] = values[y + top][x + left] where that is inside.
  static void move_plane(const AugmentedExample& example, int64_t plane, int64_t top, int64_t left) {
    const int64_t height = example.height(), width = example.width();
    const int64_t begin = std::max<int64_t>(0, -left), end = std::min(width, width - left);
    for (int64_t y = std::max<int64_t>(0, -top); y < std::min(height, height - top) && begin < end; ++y) {
      const float* row = example.values + plane + (y + top) * width + left;
      std::copy(row + begin, row + end, example.room + plane + y * width + begin);
    }
  }
};

}  // namespace treadle
