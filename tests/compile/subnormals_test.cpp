/// Subnormal numbers on `cpu`: flushed by eager ops and programs in every thread, unless the settings keep
/// them; the caller's floating-point environment is given back to the bit.
#include <gtest/gtest.h>

#include <cfenv>
#include <cmath>
#include <functional>
#include <map>

#include "tests/core/floating_point_environment.h"
#include "treadle/compile/compile.h"
#include "treadle/core/error.h"
#include "treadle/core/parallel_for.h"
#include "treadle/graph/settings.h"
#include "treadle/ops/fill/fill.h"
#include "treadle/ops/layout/cast.h"
#include "treadle/ops/layout/index_select.h"
#include "treadle/ops/layout/views.h"
#include "treadle/ops/matrix/matmul.h"
#include "treadle/ops/pointwise/pointwise.h"
#include "treadle/ops/reduce/reduce.h"
#include "treadle/ops/softmax/softmax.h"
#include "treadle/optim/adam/adam.h"
#include "treadle/optim/sgd/sgd.h"

namespace treadle {
namespace {

/// Settings, threads and the floating-point environment are as before afterwards.
class Subnormal : public testing::Test {
 protected:
  void SetUp() override { std::fegetenv(&environment_); }
  void TearDown() override {
    settings().keep_subnormals = false;
    if (num_threads() != threads_) set_num_threads(threads_);
    std::fesetenv(&environment_);
  }

 private:
  std::fenv_t environment_;
  int threads_ = num_threads();
};

int64_t count_subnormal(const Tensor& x) {
  int64_t count = 0;
  for (double value : x.to_doubles()) count += value != 0 && std::fabs(value) < 0x1p-126;
  return count;
}

#if defined(__x86_64__) || defined(__aarch64__)
/// 2^-80·2^-60, in each element.
Tensor small_products(const Tensor& x) { return x * full({}, 0x1p-60); }

TEST_F(Subnormal, AreFlushedUnlessTheSettingsKeepThem) {
  set_num_threads(4);
  const Tensor x = full({100'000}, 0x1p-80);
  auto compiled = compile([](Tensor x) { return small_products(x); });
  for (bool kept : {false, true, false}) {
    settings().keep_subnormals = kept;
    const int64_t expected = kept ? x.numel() : 0;
    EXPECT_EQ(count_subnormal(small_products(x)), expected);
    for (int call = 0; call < 3; ++call) EXPECT_EQ(count_subnormal(compiled(x)), expected) << call;
  }
  EXPECT_EQ(compiled.programs().size(), 2u);
}

/// A setting for `cpu`: kernels on `simt` do as on a GPU.
TEST_F(Subnormal, AreKeptOnSimt) {
  const Tensor x = full({1 << 20}, 0x1p-80, DType::f32, kSimt);  // blocks for all workers
  EXPECT_EQ(count_subnormal(x * full({}, 0x1p-60, DType::f32, kSimt)), x.numel());
}

using MakeOptimizer = std::function<std::unique_ptr<Optimizer>(std::vector<NamedTensor>)>;

/// Half the parameters get no gradient after the first step: what the optimiser remembers of it halves at
/// each, passes the smallest normal number after 126 steps and is gone after 150.
int64_t most_subnormal_slots(const MakeOptimizer& make, bool compiled) {
  constexpr int64_t kCount = 40'000;  // more than one thread's
  Tensor w = full({kCount}, 1).set_requires_grad();
  auto optimizer = make({{"w", w}});
  auto eager = [&](Tensor x) {
    optimizer->zero_grad();
    Tensor loss = sum(w * x);
    loss.backward();
    optimizer->step();
    return loss;
  };
  auto step = compile(eager);
  Tensor x = full({kCount}, 1);
  int64_t most = 0;
  for (int i = 0; i < 160; ++i) {
    compiled ? step(x) : eager(x);
    if (i == 0) std::fill_n(x.data<float>(), kCount / 2, 0.f);
    if (i == 130 || i == 140)
      for (auto& [name, tensor] : optimizer->state()) most = std::max(most, count_subnormal(tensor));
  }
  return most;
}

TEST_F(Subnormal, AreNotWhatOptimizersRemember) {
  set_num_threads(4);
  const std::map<std::string, MakeOptimizer> optimizers{
      {"Adam",
       [](auto p) {
         return std::make_unique<Adam>(std::move(p), 0.1, AdamOptions{.beta1 = 0.5, .beta2 = 0.5});
       }},
      {"momentum",
       [](auto p) { return std::make_unique<Sgd>(std::move(p), 0.1, SgdOptions{.momentum = 0.5}); }}};
  for (auto& [name, make] : optimizers)
    for (bool compiled : {false, true}) {
      settings().keep_subnormals = false;
      EXPECT_EQ(most_subnormal_slots(make, compiled), 0) << name << (compiled ? " compiled" : " eager");
      settings().keep_subnormals = true;
      EXPECT_GE(most_subnormal_slots(make, compiled), 20'000) << name << (compiled ? " compiled" : " eager");
    }
}
#endif

/// Work whose operations divide by zero, overflow, underflow and are invalid, eager and compiled, with
/// gradients, on several threads, and with an exception that leaves a variant.
class Work {
 public:
  void operator()() {
    x_.set_grad({});
    all(x_);
    all(x_);
    const Tensor d = x_.detach();
    compiled_(d), compiled_(d), compiled_(d);
    const Tensor far = Tensor::from(std::vector<int64_t>{99}, {1}), near = far - far;
    EXPECT_THROW(index_select(d, 0, far), Error);
    selected_(d, near), selected_(d, near);
    EXPECT_THROW(selected_(d, far), Error);
  }

 private:
  static Tensor all(const Tensor& x) {
    const Tensor zero = x * 0.0;
    Tensor loss = sum(x / zero) + sum(zero / zero) + sum(exp(x * 100.0)) + sum(x * 1e-30 * 1e-15) +
                  sum(log(-x)) + sum(softmax(x * 1e30, 1)) + sum(matmul(x, transpose(x, 0, 1)));
    if (x.requires_grad()) loss.backward();
    return loss;
  }

  Tensor x_ = full({50, 900}, 1.5).set_requires_grad();
  Compiled<std::function<Tensor(Tensor)>> compiled_ = compile(std::function<Tensor(Tensor)>(all));
  Compiled<std::function<Tensor(Tensor, Tensor)>> selected_ = compile(
      std::function<Tensor(Tensor, Tensor)>([](Tensor x, Tensor i) { return index_select(x, 0, i); }));
};

/// Any arithmetic of the host is inexact: that flag is up from the beginning.
void clear_other_flags() {
  std::feclearexcept(FE_ALL_EXCEPT);
  volatile float one = 1, three = 3, third = one / three;
  static_cast<void>(third);
}

TEST_F(Subnormal, TheCallersEnvironmentIsGivenBack) {
  set_num_threads(4);
  Work work;
  for (int rounding : {FE_TONEAREST, FE_DOWNWARD}) {
    std::fesetround(rounding);
    clear_other_flags();
    const auto before = floating_point_environment();
    work();
    EXPECT_EQ(floating_point_environment(), before);
  }
}

#if defined(__GLIBC__)
TEST_F(Subnormal, TrapsOfTheCallerStayShutWhileTreadleComputes) {
  set_num_threads(4);
  Work work;
  clear_other_flags();
  feenableexcept(FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW | FE_UNDERFLOW);
  const auto before = floating_point_environment();
  work();
  EXPECT_EQ(floating_point_environment(), before);
}
#endif

/// Rounding is to nearest whatever the caller has set.
TEST_F(Subnormal, TheCallersRoundingChangesNoResult) {
  const Tensor x = full({1000}, 1), y = full({1000}, 3);
  const double wanted = double(1.f / 3);
  auto compiled = compile([](Tensor x, Tensor y) { return x / y; });
  for (int rounding : {FE_UPWARD, FE_DOWNWARD}) {
    std::fesetround(rounding);
    const Tensor eager = x / y, replayed = compiled(x, y);
    std::fesetround(FE_TONEAREST);
    for (const Tensor& result : {eager, replayed})
      EXPECT_EQ(result.to_doubles(), std::vector<double>(1000, wanted));
  }
}

}  // namespace
}  // namespace treadle
