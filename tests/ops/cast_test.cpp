/// cast and fill: doubles and integers become half types by one rounding, on every device.
#include "treadle/ops/layout/cast.h"

#include <gtest/gtest.h>

#include "treadle/ops/fill/fill.h"
#include "treadle/ops/layout/copy.h"
#include "treadle/ops/pointwise/pointwise.h"

namespace treadle {
namespace {

class Cast : public testing::TestWithParam<DeviceKind> {
 protected:
  static Device device() { return {GetParam(), 0}; }
  template <class T>
  static std::vector<double> converted(const std::vector<T>& values, DType dtype) {
    return cast(Tensor::from(values, {int64_t(values.size())}, device()), dtype).to_doubles();
  }
};

using Doubles = std::vector<double>;

/// A rounding to f32 on the way would take the last term away and leave a tie.
TEST_P(Cast, DoublesAreRoundedOnce) {
  const Doubles values{1 + 0x1p-11 + 0x1p-40, -1 - 0x1p-11 - 0x1p-40, 1 + 3 * 0x1p-11 - 0x1p-40,
                       0x1p-25 + 0x1p-60,     65520 - 0x1p-30,        65520};
  EXPECT_EQ(converted(values, DType::f16),
            (Doubles{1.0009765625, -1.0009765625, 1.0009765625, 0x1p-24, 65504, INFINITY}));
  const Doubles wide{1 + 0x1p-8 + 0x1p-40, 1 + 3 * 0x1p-8 - 0x1p-40, 0x1p127 * (2 - 0x1p-8 - 0x1p-50)};
  EXPECT_EQ(converted(wide, DType::bf16), (Doubles{1 + 0x1p-7, 1 + 0x1p-7, 0x1p127 * (2 - 0x1p-7)}));
}

TEST_P(Cast, IntegersAreRoundedOnce) {
  EXPECT_EQ(
      converted(std::vector<int64_t>{(int64_t{1} << 62) + (int64_t{1} << 54) + 1, 257, -259}, DType::bf16),
      (Doubles{0x1p62 + 0x1p55, 256, -260}));
  EXPECT_EQ(converted(std::vector<int32_t>{(1 << 30) + (1 << 22) + 1, 2049, 4098}, DType::bf16),
            (Doubles{0x1p30 + 0x1p23, 2048, 4096}));
  EXPECT_EQ(converted(std::vector<int32_t>{2049, 2051, 65519, 65520}, DType::f16),
            (Doubles{2048, 2052, 65504, INFINITY}));
}

TEST_P(Cast, FillsAreRoundedOnce) {
  for (DType dtype : {DType::f16, DType::bf16}) {
    const double unit = dtype == DType::f16 ? 0x1p-10 : 0x1p-7, value = 1 + unit / 2 + 0x1p-40;
    EXPECT_EQ(full({1}, value, dtype, device()).item(), 1 + unit);
    EXPECT_EQ(arange(value, value + 0.5, 1, dtype, device()).item(), 1 + unit);
  }
}

/// They are normal numbers in f32, in which f16 is computed: nothing flushes them.
TEST_P(Cast, SubnormalNumbersOfF16Stay) {
  Doubles values;
  for (int k = 1; k < 1024; k += 2) values.push_back(k * 0x1p-24);
  Tensor x = cast(Tensor::from(values, {int64_t(values.size())}, device()), DType::f16);
  EXPECT_EQ(x.to_doubles(), values);
  EXPECT_EQ((x * 1.0).to_doubles(), values);
  EXPECT_EQ((x + x - x).to_doubles(), values);
  EXPECT_EQ(relu(x).to_doubles(), values);
  EXPECT_EQ(cast(x, DType::f32).to_doubles(), values);
  EXPECT_EQ(cast(cast(x, DType::f32) * 0.5 * 2.0, DType::f16).to_doubles(), values);
  EXPECT_EQ(cast(x, DType::boolean).to_doubles(), Doubles(values.size(), 1));
}

INSTANTIATE_TEST_SUITE_P(Devices, Cast, testing::Values(DeviceKind::cpu, DeviceKind::simt),
                         [](const auto& info) { return std::string(name_of(info.param)); });

}  // namespace
}  // namespace treadle
