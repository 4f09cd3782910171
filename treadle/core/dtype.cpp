#include "treadle/core/dtype.h"

#include <algorithm>

#include "treadle/core/error.h"
#include "treadle/core/nearest_name.h"

namespace treadle {

DType dtype_named(std::string_view name) {
  for (DType dtype : kAllDTypes)
    if (name_of(dtype) == name) return dtype;
  std::vector<std::string> known;
  for (DType dtype : kAllDTypes) known.emplace_back(name_of(dtype));
  throw ValueError(unknown_name("no dtype is called", name, known));
}

namespace {

/// Signed integers widen by size; u8 with a signed type needs one size more.
DType promote_integers(DType a, DType b) {
  if (a == DType::boolean) return b;
  if (b == DType::boolean) return a;
  if ((a == DType::u8) != (b == DType::u8)) {
    DType other = a == DType::u8 ? b : a;
    return other == DType::i8 ? DType::i16 : other;
  }
  return size_of(a) >= size_of(b) ? a : b;
}

DType promote_floats(DType a, DType b) {
  if (size_of(a) == 2 && size_of(b) == 2) return DType::f32;  // f16 with bf16
  return size_of(a) >= size_of(b) ? a : b;
}

}  // namespace

DType promote(DType a, DType b) {
  if (a == b) return a;
  if (is_floating(a) && is_floating(b)) return promote_floats(a, b);
  if (is_floating(a)) return a;
  if (is_floating(b)) return b;
  return promote_integers(a, b);
}

namespace {

int category(DType dtype) { return is_floating(dtype) ? 2 : is_integer(dtype) ? 1 : 0; }

}  // namespace

DType result_type(std::initializer_list<TypedOperand> operands) {
  bool any = false;
  DType result = DType::boolean;
  for (OperandKind kind : {OperandKind::tensor, OperandKind::rank0, OperandKind::number}) {
    DType of_kind = DType::boolean;
    bool present = false;
    for (const TypedOperand& operand : operands)
      if (operand.kind == kind)
        of_kind = present ? promote(of_kind, operand.dtype) : operand.dtype, present = true;
    if (present && (!any || category(of_kind) > category(result))) result = of_kind;
    any = any || present;
  }
  return result;
}

}  // namespace treadle
