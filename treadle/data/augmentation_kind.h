/// What a kind of augmentation is to others.
///
/// A kind is a header augment/NAME.h that holds a struct …Augmentation, which the build finds. It has
///   kAugmentationName, kSummary   as users ask for it, and one line
///   kTakes                        the examples that it can change
///   kNanoseconds                  that it takes for a value, about
///   describe()                    of its options, its members, in the order in which users give their values
///   check()                       throws ValueError for options that make no augmentation
/// and one of
///   apply(example, random)          changes the example
///   mix(example, partner, random)   changes it with the values of another one of the data set, and gives the
///                                   share of the label that the example keeps; the rest is the partner's
#pragma once  // public

#include <cmath>
#include <functional>
#include <string>
#include <typeinfo>

#include "treadle/core/error.h"
#include "treadle/data/augmented_example.h"
#include "treadle/graph/options.h"

namespace treadle {

enum class Augmentable {
  images,   ///< of bytes: values lie in [0, 1]
  planes,   ///< [C,H,W]
  anything  ///< any numbers
};

/// Any kind, behind one type.
struct AugmentationKind {
  std::string name, summary;
  Augmentable takes;
  double nanoseconds;  ///< for a value, about
  const std::type_info* type;
  const OptionsSchema* options;
  std::function<void(const Attributes&)> check;
  std::function<void(const Attributes&, AugmentedExample&, AugmentationRandom&)> apply;  ///< or null
  std::function<double(const Attributes&, AugmentedExample&, const AugmentedExample& partner,
                       AugmentationRandom&)>
      mix;  ///< or null
};

template <class Kind>
AugmentationKind augmentation_kind() {
  AugmentationKind kind{Kind::kAugmentationName,
                        Kind::kSummary,
                        Kind::kTakes,
                        Kind::kNanoseconds,
                        &typeid(Kind),
                        &schema_of<Kind>(),
                        [](const Attributes& options) { options.as<Kind>().check(); },
                        {},
                        {}};
  if constexpr (requires { &Kind::apply; })
    kind.apply = [](const Attributes& options, AugmentedExample& example, AugmentationRandom& random) {
      options.as<Kind>().apply(example, random);
    };
  else
    kind.mix = [](const Attributes& options, AugmentedExample& example, const AugmentedExample& partner,
                  AugmentationRandom& random) { return options.as<Kind>().mix(example, partner, random); };
  return kind;
}

namespace augmentations {

inline void require_probability(double value) {
  require<ValueError>(value >= 0 && value <= 1, "a probability of {} is not within [0, 1]", value);
}

inline void require_least(const char* what, double value, double least) {
  require<ValueError>(value >= least && std::isfinite(value), "{} is {}; it must be finite and {} or more",
                      what, value, least);
}

inline void require_finite(const char* what, double value) {
  require<ValueError>(std::isfinite(value), "{} is {}; it must be finite", what, value);
}

}  // namespace augmentations
}  // namespace treadle
