/// The variants two_steps and onednn of conv2d_max_pool2d and its gradients: what the contract test cannot
/// see.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <map>
#include <vector>

#include "tests/ops/noise.h"
#include "treadle/core/parallel_for.h"
#include "treadle/graph/registry.h"
#include "treadle/graph/select.h"
#include "treadle/graph/settings.h"
#include "treadle/ops/conv2d_max_pool2d/conv2d_max_pool2d.h"
#include "treadle/ops/layout/copy.h"

namespace treadle {
namespace {

/// Variants of the three ops, or of what they run inside, while it lives.
struct ChosenVariants {
  explicit ChosenVariants(const std::map<std::string, std::string>& variants) {
    settings().variants = variants;
  }
  ~ChosenVariants() { settings().variants.clear(); }
};
const char* const kOps[] = {"conv2d_max_pool2d", "conv2d_max_pool2d_input_gradient",
                            "conv2d_max_pool2d_weight_gradient"};
std::map<std::string, std::string> all(const char* variant) {
  std::map<std::string, std::string> variants;
  for (const char* op : kOps) variants[op] = variant;
  return variants;
}

/// y, choice, dx, dw, db.
std::vector<Tensor> results(const Tensor& x, const Tensor& w, const Tensor& b,
                            const Conv2dMaxPool2dOptions& options) {
  const auto [y, choice] = conv2d_max_pool2d(x, w, b, options);
  Tensor dy = noise(y.shape(), 3);
  const bool channels_last = !y.is_contiguous();
  if (channels_last) dy = to_channels_last(dy);
  const Tensor dx = conv2d_max_pool2d_input_gradient(
      dy, choice, w, {options, {x.shape()[2], x.shape()[3]}, !x.is_contiguous()});
  const auto [dw, db] =
      conv2d_max_pool2d_weight_gradient(x, dy, choice, {options, {w.shape()[2], w.shape()[3]}});
  return {y, choice, dx, dw, db};
}

void expect_near(const Tensor& a, const Tensor& b, double tolerance, const char* what) {
  const auto left = a.to_doubles(), right = b.to_doubles();
  ASSERT_EQ(left.size(), right.size());
  for (size_t i = 0; i < left.size(); ++i) ASSERT_NEAR(left[i], right[i], tolerance) << what << " " << i;
}

class Conv2dMaxPool2dTwoSteps : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (GetParam() == std::string("onednn") && !absence_of(Engine::onednn).empty())
      GTEST_SKIP() << absence_of(Engine::onednn);
  }
};

/// Operands are at most 1; the longest sum is that of dw, over all images and places.
TEST_P(Conv2dMaxPool2dTwoSteps, AgreesWithDirectInEveryLayout) {
  Conv2dMaxPool2dOptions overlapping;
  overlapping.padding = 1, overlapping.pool_kernel = 3, overlapping.pool_stride = 2;
  overlapping.pool_padding = 1;
  Conv2dMaxPool2dOptions row_major;
  row_major.row_major = true;
  for (const auto& options : {Conv2dMaxPool2dOptions(), overlapping, row_major})
    for (int64_t filters : {1, 5, 19})
      for (bool channels_last : {false, true}) {
        const Tensor x = noise({3, 6, 11, 12}), w = noise({filters, 6, 3, 3}), b = noise({filters});
        const Tensor image = channels_last ? to_channels_last(x) : x;
        std::vector<Tensor> expected, found;
        {
          const ChosenVariants variants(all("loop"));
          expected = results(image, w, b, options);
        }
        {
          const ChosenVariants variants(all(GetParam()));
          found = results(image, w, b, options);
        }
        const double terms[] = {6 * 9 + 1, 0, filters * 9.0 * 4, 3 * 11 * 12 + 1, 3 * 11 * 12 + 1};
        const char* names[] = {"y", "choice", "dx", "dw", "db"};
        for (size_t i = 0; i < found.size(); ++i) {
          EXPECT_EQ(found[i].strides(), expected[i].strides());
          expect_near(found[i], expected[i], terms[i] * terms[i] * 0x1p-24, names[i]);
        }
      }
}

/// But for dw, whose sums over images are cut by the number of threads.
TEST_P(Conv2dMaxPool2dTwoSteps, ThreadsDoNotChangeTheBits) {
  const ChosenVariants chosen(all(GetParam()));
  const int before = num_threads();
  for (bool channels_last : {false, true}) {
    Tensor x = noise({3, 9, 18, 19});
    if (channels_last) x = to_channels_last(x);
    const Tensor w = noise({20, 9, 3, 3}), b = noise({20});
    set_num_threads(1);
    const auto expected = results(x, w, b, {});
    for (int threads : {2, 3, 16}) {
      set_num_threads(threads);
      const auto found = results(x, w, b, {});
      for (size_t i = 0; i < found.size(); ++i)
        EXPECT_TRUE(i == 3 || same_bits(found[i], expected[i])) << threads << " " << i;
    }
  }
  set_num_threads(before);
}

class Memory final : public Workspace {
 public:
  void* take(size_t bytes) override {
    blocks_.emplace_back(bytes + 1);
    return blocks_.back().data();
  }

 private:
  std::vector<std::vector<std::byte>> blocks_;
};

TEST_P(Conv2dMaxPool2dTwoSteps, LeavesTheChoiceOutWhereNobodyAsksForIt) {
  const Op& op = op_named("conv2d_max_pool2d");
  const Variant& variant = variant_named(op, DeviceKind::cpu, GetParam());
  for (bool row_major : {false, true}) {
    Conv2dMaxPool2dOptions options;
    options.row_major = row_major;
    const Tensor x = to_channels_last(noise({2, 5, 9, 8})), w = noise({11, 5, 3, 3}), b = noise({11});
    const ChosenVariants chosen(all(GetParam()));
    const Tensor expected = conv2d_max_pool2d(x, w, b, options).y;
    const Tensor y = Tensor::empty_strided(expected.shape(), expected.strides(), DType::f32, kCpu);
    const std::array inputs{x.view(), w.view(), b.view()};
    const std::array outputs{y.view()};
    Memory memory;
    const Attributes attributes = Attributes::of(options);
    const Call call{inputs, outputs, attributes, nullptr, &memory};
    ASSERT_TRUE(variant.when(call));
    variant.run(call);
    EXPECT_TRUE(same_bits(y, expected));
  }
}

/// Not what the first call had.
TEST_P(Conv2dMaxPool2dTwoSteps, SeesTheOptionsOfEachCall) {
  const ChosenVariants chosen(all(GetParam()));
  const Tensor x = noise({1, 1, 8, 8}), w = noise({2, 1, 3, 3});
  for (int64_t stride : {1, 2, 1})
    for (int64_t padding : {0, 1, 0}) {
      Conv2dMaxPool2dOptions options;
      options.stride = stride, options.padding = padding;
      const auto found = results(x, w, {}, options);
      const ChosenVariants loops(all("loop"));
      const auto expected = results(x, w, {}, options);
      // As above: 9 products of at most 1 and a bias, 2 filters of 9 taps, 64 places.
      const double terms[] = {9 + 1, 0, 2 * 9 * 4, 64 + 1, 64 + 1};
      for (size_t i = 0; i < found.size(); ++i)
        expect_near(found[i], expected[i], terms[i] * terms[i] * 0x1p-24, "result");
      settings().variants = all(GetParam());
    }
}

INSTANTIATE_TEST_SUITE_P(Cpu, Conv2dMaxPool2dTwoSteps, testing::Values("two_steps", "onednn"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace treadle
