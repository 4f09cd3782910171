/// Options of the ops around linear. Light: device files include it.
#pragma once

namespace treadle {

struct LinearWeightGradientOptions {
  bool bias = true;
  bool transposed = false;
  template <class Field>
  static void describe(Field& field) {
    field("bias", &LinearWeightGradientOptions::bias, "make db as well");
    field("transposed", &LinearWeightGradientOptions::transposed, "dw in memory as [in][out]");
  }
};

}  // namespace treadle
