/// Programs are compared with the function again and again: what changes inside it is found, and named.
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "tests/compile/options.h"
#include "treadle/compile/compile.h"
#include "treadle/core/error.h"
#include "treadle/graph/autograd.h"
#include "treadle/nn/linear.h"
#include "treadle/ops/fill/fill.h"
#include "treadle/ops/matrix/linear.h"
#include "treadle/ops/pointwise/pointwise.h"
#include "treadle/ops/reduce/reduce.h"
#include "treadle/optim/adam/adam.h"
#include "treadle/optim/sgd/sgd.h"

namespace treadle {
namespace {

/// The message of the error that call number `first` of up to 100 calls throws; `call` gets its number.
std::string first_error(const std::function<void(int)>& work, int* call) {
  for (*call = 1; *call <= 100; ++*call) try {
      work(*call);
    } catch (const RecordingError& error) {
      return error.what();
    }
  return "nothing was thrown";
}

void expect_error_at(int wanted_call, const std::string& part, const std::function<void(int)>& work) {
  int call = 0;
  const std::string text = first_error(work, &call);
  EXPECT_EQ(call, wanted_call) << text;
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

TEST(Comparison, IsMadeAtPowersOfFour) {
  std::vector<int> recorded_at;
  int calls = 0;
  auto f = compile([&](Tensor x) { return recorded_at.push_back(calls), x + 1.0; }, kDeclared);
  for (calls = 1; calls <= 300; ++calls) EXPECT_EQ(f(full({1}, calls)).item(), calls + 1);
  EXPECT_EQ(recorded_at, (std::vector<int>{1, 2, 4, 16, 64, 256}));
}

TEST(Comparison, FindsANumberThatChangesLate) {
  for (auto [changes_at, found_at] : {std::pair(2, 2), {3, 4}, {5, 16}, {17, 64}}) {
    double number = 1;
    auto f = compile([&](Tensor x) { return x * number; }, kDeclared);
    expect_error_at(found_at, "1, then 2", [&, at = changes_at](int call) {
      number = call < at ? 1 : 2;
      f(full({1}, 3));
    });
  }
}

TEST(Comparison, SaysSinceWhenCallsMayHaveBeenWrong) {
  double number = 1;
  auto f = compile([&](Tensor x) { return x * number; }, kDeclared);
  expect_error_at(16, "since number 4 may", [&](int call) {
    number = call < 9 ? 1 : 2;
    f(full({1}, 3));
  });
  EXPECT_THROW(f(full({1}, 3)), RecordingError) << "an error that is caught is not forgotten";
  number = 1;
  EXPECT_EQ(f(full({1}, 3)).item(), 3);
}

TEST(Comparison, LeavesParametersAndCountsAlone) {
  double number = 1;
  Tensor w = full({2}, 1).set_requires_grad();
  Adam adam({{"w", w}}, 0.5);
  auto step = compile(
      [&](Tensor x) {
        adam.zero_grad();
        sum(w * x * number).backward();
        adam.step();
      },
      kDeclared);
  for (int i = 0; i < 15; ++i) step(full({2}, 1));
  const auto before = w.to_doubles();
  number = 2;
  EXPECT_THROW(step(full({2}, 1)), RecordingError);
  EXPECT_EQ(w.to_doubles(), before);
  EXPECT_EQ(adam.step_count(), 15);
}

TEST(Comparison, NamesAnOpThatIsNewOrMissing) {
  for (bool more : {true, false}) {
    bool other = false;
    auto f = compile([&](Tensor x) { return other == more ? exp(x) + 1.0 : exp(x); }, kDeclared);
    expect_error_at(4, more ? "came in addition" : "is missing", [&](int call) {
      other = call > 2;
      f(full({1}, 3));
    });
  }
}

TEST(Comparison, NamesAnOpThatIsAnother) {
  bool other = false;
  auto f = compile([&](Tensor x) { return other ? sqrt(x) : exp(x); }, kDeclared);
  expect_error_at(4, "step 1, exp: it was exp, then sqrt", [&](int call) {
    other = call > 2;
    f(full({1}, 3));
  });
}

TEST(Comparison, NamesATensorThatWasReplaced) {
  auto layer = std::make_shared<Linear>(2, 2), kept = layer;
  auto f = compile([&](Tensor x) { return (*layer)(x); }, kDeclared);
  expect_error_at(4, "operand 1 of step 1, linear", [&](int call) {
    if (call == 3) layer = std::make_shared<Linear>(2, 2);
    f(full({1, 2}, 3));
  });
}

/// A hook belongs to its leaf, which is seen in each call.
TEST(Comparison, AHookThatIsAddedLaterIsCalled) {
  Tensor w = full({2}, 1).set_requires_grad();
  auto step = compile(
      [&](Tensor x) {
        w.set_grad({});
        sum(w * x).backward();
      },
      kDeclared);
  for (int i = 0; i < 5; ++i) {
    if (i == 2) register_gradient_hook(w, [&](const Tensor& gradient) { w.set_grad(gradient * 10.0); });
    step(full({2}, 3));
    EXPECT_EQ(w.grad().to_doubles(), std::vector<double>(2, i < 2 ? 3 : 30)) << i;
  }
}

TEST(Comparison, ARateThatIsSetInsideIsSetInEachReplay) {
  Tensor w = full({1}, 0).set_requires_grad();
  Sgd sgd({{"w", w}}, 1);
  double inside = 0.5;
  auto step = compile(
      [&](Tensor x) {
        sgd.zero_grad();
        sum(w * x).backward();
        sgd.set_learning_rate(inside);
        sgd.step();
      },
      kDeclared);
  for (int i = 1; i <= 3; ++i) {
    sgd.set_schedule(Schedule::named("constant", 8));
    step(full({1}, 1));
    EXPECT_EQ(w.item(), -0.5 * i);
    EXPECT_EQ(sgd.learning_rate(), 0.5);
  }
  inside = 0.25;
  EXPECT_THROW(
      {
        try {
          step(full({1}, 1));
        } catch (const RecordingError& error) {
          EXPECT_NE(std::string(error.what()).find("rate of Sgd to 0.5, then set"), std::string::npos)
              << error.what();
          throw;
        }
      },
      RecordingError);
}

TEST(Comparison, WhatReplaysCannotRepeatIsRefusedInside) {
  Tensor w = full({1}, 0).set_requires_grad();
  Sgd sgd({{"w", w}}, 1);
  auto scheduled =
      compile([&](Tensor x) { return sgd.set_schedule(Schedule::named("constant", 1)), x + 1.0; }, kDeclared);
  EXPECT_THROW(scheduled(full({1}, 1)), RecordingError);
  auto loaded = compile([&](Tensor x) { return sgd.load_state({}), x + 1.0; }, kDeclared);
  EXPECT_THROW(loaded(full({1}, 1)), RecordingError);
}

}  // namespace
}  // namespace treadle
