/// The exponential in vectors, for each instruction set: how far it is off, and what is left of what is no
/// number.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tests/simd/exp_test.cpp"
#include "treadle/simd/targets.h"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "treadle/simd/exp-inl.h"

HWY_BEFORE_NAMESPACE();
namespace treadle::cpu::HWY_NAMESPACE {

/// Of as many numbers as 16 divides.
void exponentials(int64_t count, const float* x, float* y) {
  const hn::CappedTag<float, 16> d;
  for (int64_t i = 0; i < count; i += int64_t(hn::Lanes(d)))
    hn::StoreU(exponential(d, hn::LoadU(d, x + i)), d, y + i);
}

}  // namespace treadle::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace treadle::cpu {
namespace {

HWY_EXPORT(exponentials);

std::vector<float> exponentials_of(std::vector<float> x) {
  x.resize((x.size() + 15) / 16 * 16);
  std::vector<float> y(x.size());
  HWY_DYNAMIC_DISPATCH(exponentials)(int64_t(x.size()), x.data(), y.data());
  return y;
}

TEST(Exponential, IsOffByTwoUnitsInTheLastPlace) {
  std::vector<float> x;
  for (float value = -87.3f; value < 88; value += 0.00137f) x.push_back(value);
  const std::vector<float> y = exponentials_of(x);
  for (size_t i = 0; i < x.size(); ++i) {
    const double right = std::exp(double(x[i]));
    const float rounded = float(right), unit = std::nextafter(rounded, INFINITY) - rounded;
    ASSERT_LE(std::fabs(double(y[i]) - right), 2.0 * double(unit)) << x[i];
  }
}

TEST(Exponential, OfWhatIsFarBelowIsZeroAndOfNaNIsNaN) {
  const std::vector<float> y =
      exponentials_of({0, -88, -1e30f, -INFINITY, std::numeric_limits<float>::quiet_NaN()});
  EXPECT_EQ(y[0], 1);
  for (size_t i : {1, 2, 3}) EXPECT_EQ(y[i], 0) << i;
  EXPECT_TRUE(std::isnan(y[4]));
}

}  // namespace
}  // namespace treadle::cpu
#endif
