#include "treadle/core/scalar.h"

#include <cmath>
#include <limits>
#include <utility>

#include "treadle/core/error.h"
#include "treadle/core/tensor_view.h"

namespace treadle {

void Scalar::throw_too_large(uint64_t value) {
  throw ValueError(fmt::format("the number {} is beyond i64, whose largest is {}", value, INT64_MAX));
}

std::string to_string(const Scalar& scalar) {
  if (scalar.dtype() == DType::boolean) return scalar.integer() ? "true" : "false";
  return is_floating(scalar.dtype()) ? fmt::format("{}", scalar.to_double())
                                     : fmt::format("{}", scalar.integer());
}

namespace {

/// The smallest and largest number of a dtype that is not floating.
std::pair<int64_t, int64_t> range_of(DType dtype) {
  return with_type(dtype, [](auto tag) -> std::pair<int64_t, int64_t> {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_integral_v<T>)
      return {int64_t(std::numeric_limits<T>::min()), int64_t(std::numeric_limits<T>::max())};
    else
      return {0, 0};
  });
}

}  // namespace

bool fits(const Scalar& scalar, DType dtype) {
  if (is_floating(dtype)) return true;
  if (dtype == DType::boolean) return !std::isnan(scalar.to_double());  // anything but 0 is true
  const auto [low, high] = range_of(dtype);
  if (!is_floating(scalar.dtype())) return scalar.integer() >= low && scalar.integer() <= high;
  const double whole = std::trunc(scalar.to_double());
  return whole >= double(low) && whole < double(high) + 1;  // double(INT64_MAX) is 2^63: there the 1 is lost
}

Scalar nearest_held(const Scalar& scalar, DType dtype) {
  if (fits(scalar, dtype)) return scalar;
  const auto [low, high] = range_of(dtype);
  return scalar.to_double() < 0 ? low : high;
}

void require_fits(const char* op, const Scalar& scalar, DType dtype) {
  if (fits(scalar, dtype)) return;
  const auto [low, high] = range_of(dtype);
  throw ValueError(fmt::format("{}: the number {} does not fit {}, which holds {} to {}", op,
                               to_string(scalar), name_of(dtype), low, high));
}

}  // namespace treadle
