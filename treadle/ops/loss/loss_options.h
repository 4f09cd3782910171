/// Options of the losses: how the samples' losses become the result.
#pragma once

#include <cstdint>
#include <string>

#include "treadle/core/shape.h"

namespace treadle {

struct LossOptions {
  std::string reduction = "mean";
  template <class Field>
  static void describe(Field& field) {
    field("reduction", &LossOptions::reduction, "mean, sum or none");
  }

  bool keeps_terms() const { return reduction == "none"; }
  /// What the sum of `count` terms is divided by.
  double divisor(int64_t count) const { return reduction == "mean" ? double(count) : 1; }
  /// The same for terms of a shape; "batchmean" divides by the first extent.
  double divisor_of(const Shape& terms) const {
    if (reduction == "batchmean") return terms.rank() > 0 ? double(terms[0]) : 1;
    return divisor(terms.numel());
  }
};

/// What is said of a label out of range: its value, the sample, the number of classes.
inline constexpr const char* kLabelOutOfRange =
    "cross_entropy: label {} of sample {} is not one of {} classes";

}  // namespace treadle
