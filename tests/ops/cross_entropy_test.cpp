#include "treadle/ops/loss/cross_entropy.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "tests/goldens/golden_numbers.h"
#include "treadle/core/error.h"
#include "treadle/graph/settings.h"
#include "treadle/ops/fill/fill.h"
#include "treadle/ops/layout/cast.h"
#include "treadle/ops/layout/copy.h"

namespace treadle {
namespace {

void expect_same_bits(const Tensor& a, const Tensor& b, const std::string& what) {
  auto x = a.to_doubles(), y = b.to_doubles();
  ASSERT_EQ(x.size(), y.size()) << what;
  for (size_t i = 0; i < x.size(); ++i)
    ASSERT_TRUE(std::memcmp(&x[i], &y[i], sizeof(double)) == 0 || (std::isnan(x[i]) && std::isnan(y[i])))
        << what << ", element " << i << ": " << x[i] << " and " << y[i];
}

/// Samples × classes: small batches, rows that end within a vector, many rows, long rows.
const std::vector<Shape> kShapes{{32, 10}, {1, 1}, {7, 8}, {5, 13}, {3000, 3}, {2, 1001}};

TEST(CrossEntropy, WithGradientGivesTheBitsOfBackward) {
  for (Device device : {kCpu, kSimt})
    for (DType dtype : {DType::f32, DType::f64, DType::f16, DType::bf16})
      for (const Shape& shape : kShapes)
        for (const char* reduction : {"mean", "sum", "none"}) {
          Tensor x = to(cast(goldens::signed_tensor(900, shape, 4), dtype), device).set_requires_grad();
          Tensor labels = to(goldens::label_tensor(901, shape[0], shape[1]), device);
          Tensor loss = cross_entropy(x, labels, reduction);
          loss.backward(loss.rank() ? full(loss.shape(), 1, dtype, device) : Tensor());
          auto both = cross_entropy_with_gradient(x, labels, reduction);
          const std::string what =
              fmt::format("{} {} {} {}", device, name_of(dtype), to_string(shape), reduction);
          expect_same_bits(both.loss, loss, "loss, " + what);
          expect_same_bits(both.dx, x.grad(), "gradient, " + what);
        }
}

/// Rows that overflow, vanish and hold no number at all are among them.
TEST(CrossEntropy, LanesGiveTheBitsOfRows) {
  for (DType dtype : {DType::f32, DType::f64, DType::f16, DType::bf16})
    for (const Shape& shape : kShapes) {
      if (shape[1] > 64) continue;
      auto values = goldens::signed_tensor(902, shape, 4).to_vector<float>();
      const float unusual[] = {INFINITY, -INFINITY, NAN, 1e30f, -1e30f, -100.f, 0.f};
      for (size_t i = 0; i < values.size(); i += 41) values[i] = unusual[i / 41 % std::size(unusual)];
      Tensor x = cast(Tensor::from(values, shape), dtype),
             labels = goldens::label_tensor(901, shape[0], shape[1]);
      std::vector<LossWithGradient> results;
      for (const char* variant : {"loop", "simd"}) {
        settings().variants = {{"cross_entropy_with_gradient", variant}};
        results.push_back(cross_entropy_with_gradient(x, labels, "none"));
      }
      settings().variants.clear();
      const std::string what = fmt::format("{} {}", name_of(dtype), to_string(shape));
      expect_same_bits(results[0].loss, results[1].loss, "loss, " + what);
      expect_same_bits(results[0].dx, results[1].dx, "gradient, " + what);
    }
}

TEST(CrossEntropy, WithGradientRefusesALabelOutOfRange) {
  for (int64_t label : {-1, 3}) {
    Tensor labels = Tensor::from(std::vector<int64_t>{0, label}, {2});
    for (Device device : {kCpu, kSimt})
      EXPECT_THROW(cross_entropy_with_gradient(Tensor::zeros({2, 3}, DType::f32, device), to(labels, device)),
                   ValueError);
  }
}

}  // namespace
}  // namespace treadle
