/// Options of the copy op.
#pragma once

#include <string>

namespace treadle {

struct CopyOptions {
  std::string layout = "row_major";
  template <class Field>
  static void describe(Field& field) {
    field("layout", &CopyOptions::layout,
          "row_major, channels_last, or same: that of the input without gaps");
  }
};

}  // namespace treadle
