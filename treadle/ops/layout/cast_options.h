/// Options of the cast op.
#pragma once

#include "treadle/core/dtype.h"

namespace treadle {

struct CastOptions {
  DType dtype = DType::f32;
  template <class Field>
  static void describe(Field& field) {
    field("dtype", &CastOptions::dtype, "element type of the result");
  }
};

}  // namespace treadle
