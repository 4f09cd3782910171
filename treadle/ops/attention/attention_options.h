/// Options of scaled_dot_product_attention.
#pragma once

namespace treadle {

struct AttentionOptions {
  double scale = 0;
  bool causal = false;
  template <class Field>
  static void describe(Field& field) {
    field("scale", &AttentionOptions::scale, "factor of the scores; 0 means 1/√E");
    field("causal", &AttentionOptions::causal, "whether query i sees only the keys 0 to i");
  }
};

}  // namespace treadle
