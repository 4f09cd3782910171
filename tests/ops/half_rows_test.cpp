/// Half types on the cpu device, where loops over floats take them: long rows at any step, and numbers.
#include <gtest/gtest.h>

#include "tests/random_tensor.h"
#include "treadle/ops/layout/cast.h"
#include "treadle/ops/layout/views.h"
#include "treadle/ops/pointwise/pointwise.h"

namespace treadle {
namespace {

using HalfRows = testing::TestWithParam<DType>;
using Doubles = std::vector<double>;

constexpr int64_t kCount = 1301;  ///< no multiple of vectors and blocks

/// Dense, every second element, one number.
std::vector<Tensor> layouts(DType dtype, uint64_t seed) {
  const Tensor x = cast(random_tensor({2 * kCount}, seed), dtype);
  return {slice(x, 0, 0, kCount), slice(x, 0, 1, 2 * kCount, 2), expand(slice(x, 0, 5, 6), {kCount})};
}

Tensor floats(const Tensor& x) { return cast(x, DType::f32); }

/// A half type is computed in float and rounded once.
TEST_P(HalfRows, OperandsOfAnyStep) {
  for (const Tensor& a : layouts(GetParam(), 1))
    for (const Tensor& b : layouts(GetParam(), 2)) {
      SCOPED_TRACE(fmt::format("steps {} and {}", a.strides()[0], b.strides()[0]));
      EXPECT_EQ((a - b).to_doubles(), cast(floats(a) - floats(b), GetParam()).to_doubles());
      EXPECT_EQ(less(a, b).to_doubles(), less(floats(a), floats(b)).to_doubles());
      EXPECT_EQ(exp(a).to_doubles(), cast(exp(floats(a)), GetParam()).to_doubles());
    }
}

TEST_P(HalfRows, OfAMatrixAndItsTranspose) {
  const Tensor a = cast(random_tensor({7, kCount}, 3), GetParam());
  const Tensor b = transpose(cast(random_tensor({kCount, 7}, 4), GetParam()), 0, 1);
  EXPECT_EQ((a - b).to_doubles(), cast(floats(a) - floats(b), GetParam()).to_doubles());
  EXPECT_EQ(less(b, a).to_doubles(), less(floats(b), floats(a)).to_doubles());
}

TEST_P(HalfRows, ThereAndBack) {
  for (const Tensor& x : layouts(GetParam(), 5)) {
    const Doubles values = x.to_doubles();
    EXPECT_EQ(floats(x).to_doubles(), values);
    EXPECT_EQ(cast(floats(x), GetParam()).to_doubles(), values);
  }
  const Tensor x = random_tensor({2 * kCount}, 6), every_second = slice(x, 0, 0, 2 * kCount, 2);
  EXPECT_EQ(cast(every_second, GetParam()).to_doubles(), cast(clone(every_second), GetParam()).to_doubles());
}

INSTANTIATE_TEST_SUITE_P(Both, HalfRows, testing::Values(DType::f16, DType::bf16),
                         [](const auto& info) { return std::string(name_of(info.param)); });

}  // namespace
}  // namespace treadle
