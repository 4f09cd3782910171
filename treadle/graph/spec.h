/// TensorSpec: what a shape rule sees of an operand. Light: whoever only passes calls on includes it, and no
/// op.
#pragma once

#include <initializer_list>
#include <span>

#include "treadle/core/tensor.h"

namespace treadle {

/// Shape, layout and dtype of an operand; `defined` is false for one that was left out.
struct TensorSpec {
  Shape shape;
  Strides strides;
  DType dtype = DType::f32;
  bool defined = true;

  /// Row-major.
  static TensorSpec of(const Shape& shape, DType dtype) {
    return {shape, contiguous_strides(shape), dtype, true};
  }
  static TensorSpec of(const Tensor& tensor) {
    if (!tensor.defined()) return {{}, {}, DType::f32, false};
    return {tensor.shape(), tensor.strides(), tensor.dtype(), true};
  }
};

/// The operands of a call, in order.
class Specs : public std::span<const TensorSpec> {
 public:
  using std::span<const TensorSpec>::span;
  Specs(std::span<const TensorSpec> specs) : span(specs) {}
  /// Throws ValueError when the call has no operand i.
  const TensorSpec& operator[](size_t i) const {
    if (i >= size()) [[unlikely]]
      throw_missing(i);
    return span::operator[](i);
  }

 private:
  [[noreturn]] TREADLE_API static void throw_missing(size_t i);
};

/// A set of dtypes.
class DTypeSet {
 public:
  constexpr DTypeSet(std::initializer_list<DType> dtypes) {
    for (DType dtype : dtypes) bits_ |= 1u << int(dtype);
  }
  constexpr bool contains(DType dtype) const { return bits_ >> int(dtype) & 1u; }

 private:
  uint32_t bits_ = 0;
};
inline constexpr DTypeSet kFloating{DType::f32, DType::f64, DType::f16, DType::bf16};
inline constexpr DTypeSet kNumeric{DType::f32, DType::f64, DType::f16, DType::bf16, DType::i8,
                                   DType::u8,  DType::i16, DType::i32, DType::i64};
inline constexpr DTypeSet kEveryDType{DType::f32, DType::f64, DType::f16, DType::bf16, DType::i8,
                                      DType::u8,  DType::i16, DType::i32, DType::i64,  DType::boolean};

/// Throws DTypeError unless all defined operands have the first one's dtype.
TREADLE_API void require_same_dtype(const char* op, Specs inputs);

}  // namespace treadle
