/// Options of the op pick.
#pragma once

#include <cstdint>

namespace treadle {

struct PickOptions {
  int64_t ignore_index = -100;
  template <class Field>
  static void describe(Field& field) {
    field("ignore_index", &PickOptions::ignore_index, "label of samples that give 0");
  }
};

/// What is said of a label out of range: its value, the sample, the number of classes.
inline constexpr const char* kPickOutOfRange = "label {} of sample {} is not one of {} classes";

}  // namespace treadle
