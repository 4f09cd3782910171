/// Options of the losses: how the samples' losses become the result.
#pragma once

#include <cstdint>
#include <string>

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
};

}  // namespace treadle
