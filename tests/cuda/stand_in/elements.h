/// Elements of the floating dtypes behind an untyped address, as the stand-ins of the libraries meet them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "treadle/core/half.h"

namespace treadle::stand_in {

enum class Element : uint8_t { f64, f32, f16, bf16 };

inline size_t bytes_of(Element type) { return type == Element::f64 ? 8 : type == Element::f32 ? 4 : 2; }

inline double load(const void* memory, Element type, int64_t i) {
  switch (type) {
    case Element::f64:
      return static_cast<const double*>(memory)[i];
    case Element::f32:
      return static_cast<const float*>(memory)[i];
    case Element::f16:
      return float(static_cast<const Float16*>(memory)[i]);
    default:
      return float(static_cast<const BFloat16*>(memory)[i]);
  }
}

inline void store(void* memory, Element type, int64_t i, double value) {
  switch (type) {
    case Element::f64:
      static_cast<double*>(memory)[i] = value;
      return;
    case Element::f32:
      static_cast<float*>(memory)[i] = float(value);
      return;
    case Element::f16:
      static_cast<Float16*>(memory)[i] = Float16(float(value));
      return;
    default:
      static_cast<BFloat16*>(memory)[i] = BFloat16(float(value));
  }
}

}  // namespace treadle::stand_in
