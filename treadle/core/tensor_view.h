/// TensorView: what an op's variant sees of a tensor. Plain data, owning nothing. Light: device files include
/// it.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include "treadle/core/dtype.h"
#include "treadle/core/half.h"
#include "treadle/core/shape.h"

namespace treadle {

/// Address, dtype, logical shape and strides (in elements). `data` is null for an operand that was left out.
struct TensorView {
  void* data = nullptr;
  DType dtype = DType::f32;
  Shape shape;
  Strides strides;

  bool defined() const { return data != nullptr || shape.rank() > 0; }
  int64_t numel() const { return shape.numel(); }
  bool contiguous() const { return is_contiguous(shape, strides); }
  bool channels_last() const { return is_channels_last(shape, strides); }
  /// The elements as T; the caller has looked at dtype.
  template <class T>
  T* as() const {
    return static_cast<T*>(data);
  }
  /// Where the element lies that is so many elements behind the first.
  void* element(int64_t offset) const {
    return static_cast<char*>(data) + offset * static_cast<int64_t>(size_of(dtype));
  }
};

/// The DType of a C++ type.
template <class T>
constexpr DType dtype_of() {
  using U = std::remove_cv_t<T>;
  if constexpr (std::is_same_v<U, float>)
    return DType::f32;
  else if constexpr (std::is_same_v<U, double>)
    return DType::f64;
  else if constexpr (std::is_same_v<U, Float16>)
    return DType::f16;
  else if constexpr (std::is_same_v<U, BFloat16>)
    return DType::bf16;
  else if constexpr (std::is_same_v<U, int8_t>)
    return DType::i8;
  else if constexpr (std::is_same_v<U, uint8_t>)
    return DType::u8;
  else if constexpr (std::is_same_v<U, int16_t>)
    return DType::i16;
  else if constexpr (std::is_same_v<U, int32_t>)
    return DType::i32;
  else if constexpr (std::is_same_v<U, int64_t>)
    return DType::i64;
  else {
    static_assert(std::is_same_v<U, bool>, "not an element type");
    return DType::boolean;
  }
}

template <class T>
struct TypeTag {
  using type = T;
};

/// Calls f(TypeTag<T>{}) with the host type of `dtype`.
template <class F>
decltype(auto) with_type(DType dtype, F&& f) {
  switch (dtype) {
    case DType::f32:
      return f(TypeTag<float>{});
    case DType::f64:
      return f(TypeTag<double>{});
    case DType::f16:
      return f(TypeTag<Float16>{});
    case DType::bf16:
      return f(TypeTag<BFloat16>{});
    case DType::i8:
      return f(TypeTag<int8_t>{});
    case DType::u8:
      return f(TypeTag<uint8_t>{});
    case DType::i16:
      return f(TypeTag<int16_t>{});
    case DType::i32:
      return f(TypeTag<int32_t>{});
    case DType::i64:
      return f(TypeTag<int64_t>{});
    default:
      return f(TypeTag<bool>{});
  }
}

/// The same for the floating types; other dtypes do not reach it (the op declares what it takes).
template <class F>
decltype(auto) with_floating_type(DType dtype, F&& f) {
  switch (dtype) {
    case DType::f64:
      return f(TypeTag<double>{});
    case DType::f16:
      return f(TypeTag<Float16>{});
    case DType::bf16:
      return f(TypeTag<BFloat16>{});
    default:
      return f(TypeTag<float>{});
  }
}

/// The same for all but bool.
template <class F>
decltype(auto) with_numeric_type(DType dtype, F&& f) {
  switch (dtype) {
    case DType::i8:
      return f(TypeTag<int8_t>{});
    case DType::u8:
      return f(TypeTag<uint8_t>{});
    case DType::i16:
      return f(TypeTag<int16_t>{});
    case DType::i32:
      return f(TypeTag<int32_t>{});
    case DType::i64:
      return f(TypeTag<int64_t>{});
    default:
      return with_floating_type(dtype, std::forward<F>(f));
  }
}

/// The type values of T are computed in on the host: float for the half types.
template <class T>
using HostCompute = std::conditional_t<std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>, float, T>;

/// The type sums of T are kept in: float for the half types, 64 bits for integers.
template <class T>
using Accumulate = std::conditional_t<std::is_same_v<T, double>, double,
                                      std::conditional_t<std::is_integral_v<T>, int64_t, float>>;

}  // namespace treadle
