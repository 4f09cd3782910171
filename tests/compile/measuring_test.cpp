/// Watching the measurement of variants, and giving it up.
#include "treadle/compile/measuring.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <cmath>
#include <filesystem>
#include <optional>
#include <set>
#include <string>

#include "treadle/compile/compile.h"
#include "treadle/compile/variant_choice.h"
#include "treadle/core/error.h"
#include "treadle/models/model.h"
#include "treadle/ops/layout/copy.h"
#include "treadle/ops/matrix/matmul.h"
#include "treadle/ops/random/random.h"
#include "treadle/ops/softmax/softmax.h"
#include "treadle/optim/optimizer.h"
#include "treadle/train/classification/classifier_loss.h"
#include "treadle/train/training_step.h"

namespace treadle {
namespace {

/// Measurements in a file of their own.
class Measuring : public ::testing::Test {
 protected:
  Measuring() {
    if (const char* before = std::getenv("TREADLE_CACHE")) before_ = before;
    std::string name = (std::filesystem::temp_directory_path() / "treadle_measuring_XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
    ::setenv("TREADLE_CACHE", folder_.c_str(), 1);
    VariantCache::clear();
  }
  ~Measuring() override {
    if (before_)
      ::setenv("TREADLE_CACHE", before_->c_str(), 1);
    else
      ::unsetenv("TREADLE_CACHE");
    VariantCache::clear();
    std::filesystem::remove_all(folder_);
  }

  /// Runs a program with two products, whose variants are measured, beside a watcher that allows `most` runs.
  void run_with(int most) {
    asked_ = ended_ = 0;
    ops_.clear();
    ObserveMeasuring observe({[this, most](std::string_view op) {
                                ops_.emplace(op);
                                return ++asked_ <= most;
                              },
                              [this] { ++ended_; }});
    auto program = compile([](Tensor a, Tensor b) { return softmax(matmul(matmul(a, b), b), 1); });
    Generator generator(1);
    Tensor a = rand({24, 24}, DType::f32, kCpu, generator), b = rand({24, 24}, DType::f32, kCpu, generator);
    Tensor expected = softmax(matmul(matmul(a, b), b), 1), got = program(a, b);
    // Variants add in other orders: the logits, below 24², are off by 2 · 24 units at most in either result.
    constexpr double kTolerance = 2 * 2 * 24 * 0x1p-24 * 24 * 24;
    for (int64_t i = 0; i < got.numel(); ++i)
      EXPECT_NEAR(got.data<float>()[i], expected.data<float>()[i], kTolerance);
  }

  std::optional<std::string> before_;
  std::string folder_;
  int asked_ = 0, ended_ = 0;
  std::set<std::string> ops_;
};

TEST_F(Measuring, IsToldOf) {
  run_with(1 << 30);
  EXPECT_GT(asked_, 1);
  EXPECT_TRUE(ops_.count("matmul"));
  EXPECT_GT(ended_, 0);
  const size_t kept = VariantCache::entries().size();
  EXPECT_GT(kept, 0u);
  run_with(1 << 30);
  EXPECT_EQ(asked_, 0) << "what was measured is measured again";
  EXPECT_EQ(VariantCache::entries().size(), kept);
}

TEST_F(Measuring, GivenUpAtOnceRunsByRuleAndKeepsNothing) {
  run_with(0);
  EXPECT_GT(asked_, 0);
  EXPECT_TRUE(VariantCache::entries().empty());
  run_with(1 << 30);
  EXPECT_GT(asked_, 1) << "later programs measure";
}

TEST_F(Measuring, GivenUpInTheMiddleKeepsNothingOfThatCall) {
  run_with(1);
  EXPECT_GT(asked_, 1);
  EXPECT_TRUE(VariantCache::entries().empty());
}

TEST_F(Measuring, TheNewestObserverCounts) {
  ObserveMeasuring refuse({[](std::string_view) { return false; }, {}});
  run_with(1 << 30);
  EXPECT_GT(asked_, 1);
  EXPECT_FALSE(VariantCache::entries().empty());
}

/// A network that learns lets fewer elements through ReLU: in time the variants that zeros decide are
/// measured again, others are not, and what was measured for such operands before is known.
TEST_F(Measuring, IsRepeatedWhereOperandsGetMoreZeros) {
  auto train = [&](bool zeros) {
    const auto model = make_model("mlp", {{1, 8, 8}, 4});
    const auto optimizer = make_optimizer("sgd", model->named_parameters(), 0.01);
    CompiledFunction step([step = training_step(*optimizer, classifier_loss(*model))](
                              std::span<const Tensor> batch) { return std::vector{step(batch)}; });
    Generator generator(1);
    const Tensor full = rand({32, 1, 8, 8}, DType::f32, kCpu, generator);
    const Tensor sparse = Tensor::from(std::span<const float>(full.to_vector<float>()), full.shape());
    for (int64_t i = 0; i < sparse.numel(); ++i)
      if (i % 4) sparse.data<float>()[i] = 0;
    const Tensor labels = Tensor::zeros({32}, DType::i64);
    ops_.clear(), asked_ = 0;
    ObserveMeasuring observe({[this](std::string_view op) {
                                ops_.emplace(op);
                                return ++asked_ > 0;
                              },
                              {}});
    std::vector<Tensor> loss(1);
    for (int call = 1; call < 256; ++call) step.call(std::vector{full, labels}, loss);
    ops_.clear(), asked_ = 0;
    for (int call = 0; call < 4; ++call) step.call(std::vector{zeros ? sparse : full, labels}, loss);
    return std::isfinite(loss[0].item());
  };
  EXPECT_TRUE(train(true));
  EXPECT_TRUE(ops_.count("linear_sgd_update")) << testing::PrintToString(ops_);
  EXPECT_FALSE(ops_.count("cross_entropy_with_gradient"));
  EXPECT_TRUE(train(true));
  EXPECT_EQ(asked_, 0) << testing::PrintToString(ops_);
}

}  // namespace
}  // namespace treadle
