/// Options of the ops fill and arange.
#pragma once

#include <cstdint>
#include <cstring>

#include "treadle/core/tensor_view.h"

namespace treadle {

struct FillOptions {
  double value = 0;
  template <class Field>
  static void describe(Field& field) {
    field("value", &FillOptions::value, "what every element becomes");
  }
};

struct ArangeOptions {
  double start = 0, step = 1;
  template <class Field>
  static void describe(Field& field) {
    field("start", &ArangeOptions::start, "the first element");
    field("step", &ArangeOptions::step, "distance of elements");
  }
};

/// The bytes of `value` as a dtype, in the lowest bytes of the result.
inline uint64_t bits_of(double value, DType dtype) {
  return with_type(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    T element;
    if constexpr (std::is_same_v<T, bool>)
      element = value != 0;
    else
      element = T(value);
    uint64_t bits = 0;
    std::memcpy(&bits, &element, sizeof element);
    return bits;
  });
}

}  // namespace treadle
