/// Options of the op embedding.
#pragma once

#include <cstdint>

namespace treadle {

struct EmbeddingOptions {
  int64_t padding_index = -1;
  template <class Field>
  static void describe(Field& field) {
    field("padding_index", &EmbeddingOptions::padding_index, "the row that gets no gradient; -1: none");
  }
};

}  // namespace treadle
