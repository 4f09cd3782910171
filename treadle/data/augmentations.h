/// Augmentations: random changes of training examples, one after another, by the kinds in augment/.
#pragma once  // public

#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <typeinfo>
#include <vector>

#include "treadle/data/augmentation_kind.h"

namespace treadle {

/// A list of augmentations, in the order in which they are applied; empty: none.
class TREADLE_API Augmentations {
 public:
  Augmentations() = default;
  /// `Augmentations(CropAugmentation{.padding = 4}, FlipAugmentation())`. The kinds are structs, one in each
  /// header of augment/. Throws ValueError for options that a kind refuses.
  template <class... Kinds>
  requires(sizeof...(Kinds) > 0 &&
           (requires { Kinds::kAugmentationName; } && ...)) explicit Augmentations(const Kinds&... kinds) {
    (add(kind_of(typeid(Kinds)), Attributes::of(kinds)), ...);
  }
  /// As users write them: "crop:4,flip,jitter:contrast=0.4". Each is a name of known_augmentations() with
  /// values of its options, in their order or named, behind colons. Throws ValueError saying what is known.
  static Augmentations parse(std::string_view text);

  bool empty() const { return steps_.empty(); }
  /// Whether labels become mixtures.
  bool mixes() const;
  /// Throws ValueError unless each can change examples of the shape; `are_images` says that they are bytes.
  void require_fit(const Shape& example, bool are_images) const;

  /// One augmentation of the list.
  struct Step {
    const AugmentationKind* kind;
    Attributes options;
  };
  std::span<const Step> steps() const { return steps_; }

 private:
  static const AugmentationKind& kind_of(const std::type_info& type);
  void add(const AugmentationKind& kind, Attributes options);

  std::vector<Step> steps_;
};

/// In the order of their names.
TREADLE_API const std::vector<AugmentationKind>& known_augmentation_kinds();
TREADLE_API std::vector<std::string> known_augmentations();

}  // namespace treadle
