/// Scalar: a number of the host as an operand of tensors.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>

#include "treadle/core/dtype.h"
#include "treadle/core/export.h"

namespace treadle {

/// A C++ number with its category, which decides what it can raise a tensor's dtype to: bool, i64 for all
/// integers, f32 for floating numbers. Integers keep all 64 bits.
class Scalar {
 public:
  /// Throws ValueError for an unsigned number beyond i64.
  template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>
  Scalar(T value) {
    if constexpr (std::is_floating_point_v<T>) {
      dtype_ = DType::f32;
      floating_ = double(value);
    } else {
      dtype_ = std::is_same_v<T, bool> ? DType::boolean : DType::i64;
      if constexpr (std::is_unsigned_v<T> && sizeof(T) == 8)
        if (value > uint64_t(INT64_MAX)) throw_too_large(value);
      integer_ = int64_t(value);
    }
  }

  /// bool, i64 or f32: the category, and the dtype where nothing else decides.
  DType dtype() const { return dtype_; }
  double to_double() const { return dtype_ == DType::f32 ? floating_ : double(integer_); }
  /// The number itself unless it is floating.
  int64_t integer() const { return integer_; }

 private:
  [[noreturn]] TREADLE_API static void throw_too_large(uint64_t value);

  DType dtype_;
  double floating_ = 0;
  int64_t integer_ = 0;
};

TREADLE_API std::string to_string(const Scalar& scalar);

/// Whether a dtype holds the number up to rounding: integers and bool in its range, any number for floating
/// dtypes. Fractions are cut off towards zero first; NaN and infinity fit floating dtypes alone.
TREADLE_API bool fits(const Scalar& scalar, DType dtype);

/// The number, or the end of an integer dtype that lies nearest to it.
TREADLE_API Scalar nearest_held(const Scalar& scalar, DType dtype);

/// Throws ValueError naming `op`, the number and the range of `dtype` unless it fits.
TREADLE_API void require_fits(const char* op, const Scalar& scalar, DType dtype);

}  // namespace treadle
