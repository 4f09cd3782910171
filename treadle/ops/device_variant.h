/// What the device half of an op needs: element types of the target, the call's stream, and grid sizes.
#pragma once

#include "treadle/graph/variant.h"
#include "treadle/simt/device.h"
#include "treadle/simt/half.h"

namespace treadle::TREADLE_TARGET {

inline constexpr DeviceKind kDevice = TREADLE_TARGET_IS_CUDA ? DeviceKind::cuda : DeviceKind::simt;

inline constexpr int kThreads = 256;  ///< threads of a block where the kernel does not care

inline stream_t stream_of(const Call& call) { return static_cast<stream_t>(call.stream); }

/// Blocks of `threads` that cover `count` items.
inline unsigned blocks_for(int64_t count, int threads = kThreads) {
  return static_cast<unsigned>((count + threads - 1) / threads);
}

/// The device's element type for a host element type.
template <class T>
struct DeviceType {
  using type = T;
};
template <>
struct DeviceType<Float16> {
  using type = __half;
};
template <>
struct DeviceType<BFloat16> {
  using type = __nv_bfloat16;
};

/// The type values of T are computed in: float for the half types.
template <class T>
using Compute = std::conditional_t<std::is_same_v<T, __half> || std::is_same_v<T, __nv_bfloat16>, float, T>;

/// The type sums of T are kept in: float for the half types, 64 bits for integers.
template <class T>
using Sum = std::conditional_t<std::is_integral_v<T>, int64_t, Compute<T>>;

/// Calls f(TypeTag<T>{}) with the device's element type.
template <class F>
void with_device_type(DType dtype, F&& f) {
  with_type(dtype, [&](auto tag) { f(TypeTag<typename DeviceType<typename decltype(tag)::type>::type>{}); });
}

/// The same for the floating types only.
template <class F>
void with_floating_device_type(DType dtype, F&& f) {
  with_floating_type(
      dtype, [&](auto tag) { f(TypeTag<typename DeviceType<typename decltype(tag)::type>::type>{}); });
}

/// The same for the numeric types: all but bool.
template <class F>
void with_numeric_device_type(DType dtype, F&& f) {
  with_numeric_type(dtype,
                    [&](auto tag) { f(TypeTag<typename DeviceType<typename decltype(tag)::type>::type>{}); });
}

}  // namespace treadle::TREADLE_TARGET
