/// The functions of vector_math.h against the C library's in double, on floats of every size, and that rows
/// get the same bits from vectors of any width.
#include "treadle/kernels/vector_math.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "treadle/graph/apply.h"
#include "treadle/graph/registry.h"
#include "treadle/ops/layout/views.h"
#include "treadle/ops/pointwise/all_functions.h"

namespace treadle {
namespace {

struct FloatFunction {
  const char* name;
  float (*function)(float);
  double (*exact)(double);
  double most_ulps;  ///< as the header says
};

void PrintTo(const FloatFunction& f, std::ostream* out) { *out << f.name; }

class VectorMath : public testing::TestWithParam<FloatFunction> {};

/// Distance from the exact result, in units of the last place that a float beside it has.
double ulps_off(float found, double exact) {
  int exponent;
  std::frexp(exact, &exponent);
  return std::fabs(double(found) - exact) / std::ldexp(1, std::max(exponent - 24, -149));
}

/// NaN where the exact result is NaN, infinite where it rounds to infinity, and as close as promised
/// elsewhere.
TEST_P(VectorMath, IsCloseForAllFloats) {
  const auto& [name, function, exact, most_ulps] = GetParam();
  double worst = 0;
  float at = 0;
  constexpr uint64_t kStride = 4001;  // odd: all signs, exponents and endings occur
  for (uint64_t bits = 0; bits < uint64_t{1} << 32; bits += kStride) {
    const float x = vector_math::of_bits(uint32_t(bits)), y = function(x);
    const double wanted = exact(x);
    if (std::isnan(wanted) || std::isinf(float(wanted))) {
      ASSERT_TRUE(std::isnan(wanted) ? std::isnan(y) : y == float(wanted)) << name << "(" << x << ") = " << y;
    } else if (const double off = ulps_off(y, wanted); !(off <= worst)) {
      worst = off, at = x;
    }
  }
  EXPECT_LE(worst, most_ulps) << name << "(" << at << ")";
}

TEST_P(VectorMath, KeepsZerosAndEnds) {
  const auto& [name, function, exact, most_ulps] = GetParam();
  for (float x : {0.f, -0.f, INFINITY, -INFINITY, 1.f, -1.f, 0x1p-149f, -0x1p-149f, 0x1.fffffep127f}) {
    const float y = function(x), wanted = float(exact(x));
    EXPECT_EQ(std::isnan(y), std::isnan(wanted)) << name << "(" << x << ")";
    if (std::isnan(wanted)) continue;
    EXPECT_EQ(std::signbit(y), std::signbit(wanted)) << name << "(" << x << ")";
    EXPECT_TRUE((wanted != 0 && !std::isinf(wanted)) || y == wanted) << name << "(" << x << ") = " << y;
  }
  EXPECT_TRUE(std::isnan(function(NAN))) << name;
}

INSTANTIATE_TEST_SUITE_P(All, VectorMath,
                         testing::Values(FloatFunction{"exp", vector_math::exp, std::exp, 1.1},
                                         FloatFunction{"expm1", vector_math::expm1, std::expm1, 2},
                                         FloatFunction{"log", vector_math::log, std::log, 1.1},
                                         FloatFunction{"log1p", vector_math::log1p, std::log1p, 2},
                                         FloatFunction{"tanh", vector_math::tanh, std::tanh, 3},
                                         FloatFunction{"erf", vector_math::erf, std::erf, 1.5}),
                         [](const auto& info) { return info.param.name; });

template <class F>
std::string op_of() {
  return F::kName;
}
template <class F>
requires std::is_base_of_v<UnaryFunction, F> &&(F::kOperands == 2) std::string op_of() {
  return std::string(F::kName) + "_gradient";
}

template <class F>
void expect_same_bits(const Tensor& apart, const Tensor& close) {
  const Op& op = registry().find(op_of<F>());
  auto of = [&](const Tensor& x) {
    const Tensor y = apply(op, std::vector<Tensor>(F::kOperands, x))[0];
    return y.dtype() == DType::f32 ? y.to_vector<float>() : std::vector<float>{};
  };
  const auto one = of(apart), other = of(close);
  ASSERT_EQ(one.size(), other.size());
  for (size_t i = 0; i < one.size(); ++i)
    ASSERT_TRUE(vector_math::bits_of(one[i]) == vector_math::bits_of(other[i]) ||
                (std::isnan(one[i]) && std::isnan(other[i])))
        << op.name << ": " << one[i] << " and " << other[i] << ", operand " << i;
}

template <class... F>
void expect_same_bits(FunctionList<F...>, const Tensor& apart, const Tensor& close) {
  (expect_same_bits<F>(apart, close), ...);
}

/// Rows that lie apart are computed one by one, dense ones in the widest vectors that the processor has.
TEST(VectorMath, WidthsGiveTheSameBits) {
  constexpr int64_t kCount = 1003;
  std::vector<float> pairs, values;
  for (int64_t i = 0; i < kCount; ++i) {
    values.push_back(float(i - kCount / 2) * 0.0197f);
    pairs.insert(pairs.end(), {values.back(), 7});
  }
  expect_same_bits(AllFunctions(), slice(Tensor::from(pairs, {kCount, 2}), 1, 0, 1),
                   Tensor::from(values, {kCount, 1}));
}

}  // namespace
}  // namespace treadle
