/// Element types, their sizes and the promotion table. Light: device files include it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "treadle/core/export.h"

namespace treadle {

enum class DType : uint8_t { f32, f64, f16, bf16, i8, u8, i16, i32, i64, boolean };

inline constexpr int kDTypeCount = 10;
inline constexpr DType kAllDTypes[kDTypeCount] = {DType::f32, DType::f64,    DType::f16, DType::bf16,
                                                  DType::i8,  DType::u8,     DType::i16, DType::i32,
                                                  DType::i64, DType::boolean};

/// Bytes per element.
constexpr size_t size_of(DType dtype) {
  constexpr uint8_t sizes[kDTypeCount] = {4, 8, 2, 2, 1, 1, 2, 4, 8, 1};
  return sizes[int(dtype)];
}

constexpr std::string_view name_of(DType dtype) {
  constexpr std::string_view names[kDTypeCount] = {"f32", "f64", "f16", "bf16", "i8",
                                                   "u8",  "i16", "i32", "i64",  "bool"};
  return names[int(dtype)];
}

constexpr bool is_floating(DType dtype) { return dtype <= DType::bf16; }

/// Inverse of name_of. Throws ValueError.
TREADLE_API DType dtype_named(std::string_view name);

/// The type two operands are computed in: PyTorch's table for tensors of rank ≥ 1.
TREADLE_API DType promote(DType a, DType b);

}  // namespace treadle
