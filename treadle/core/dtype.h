/// Element types, their sizes and the promotion table. Light: device files include it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
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
  constexpr uint8_t kSizes[kDTypeCount] = {4, 8, 2, 2, 1, 1, 2, 4, 8, 1};
  return kSizes[int(dtype)];
}

constexpr std::string_view name_of(DType dtype) {
  constexpr std::string_view kNames[kDTypeCount] = {"f32", "f64", "f16", "bf16", "i8",
                                                    "u8",  "i16", "i32", "i64",  "bool"};
  return kNames[int(dtype)];
}

constexpr bool is_floating(DType dtype) { return dtype <= DType::bf16; }
constexpr bool is_half(DType dtype) { return dtype == DType::f16 || dtype == DType::bf16; }
/// Whether a dtype holds whole numbers: neither floating nor bool.
constexpr bool is_integer(DType dtype) { return !is_floating(dtype) && dtype != DType::boolean; }

/// Inverse of name_of. Throws ValueError.
TREADLE_API DType dtype_named(std::string_view name);

/// The type two operands of the same kind are computed in: the wider of the higher category (bool, integer,
/// floating); f32 for f16 with bf16, the next wider signed type for u8 with a signed one.
TREADLE_API DType promote(DType a, DType b);

/// What an operand is, from weakest to strongest: a number of the host, a tensor of rank 0, another tensor.
enum class OperandKind : uint8_t { number, rank0, tensor };

struct TypedOperand {
  DType dtype;  ///< of a number: bool, i64 or f32
  OperandKind kind = OperandKind::tensor;
};

/// The type operands are computed in together, as in PyTorch (torch.result_type): a weaker kind counts only
/// where its category is higher. So u8 tensor + 300 is u8, i64 tensor · 0.5 is f32, f16 tensor · f64 tensor
/// of rank 0 is f16.
TREADLE_API DType result_type(std::initializer_list<TypedOperand> operands);

}  // namespace treadle
