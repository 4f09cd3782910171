/// Where arguments lie: a program assumes no more of their addresses than holds in each call, and arguments
/// that share memory with what it writes have the values that eager calls find there.
#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "tests/call_without_memory.h"
#include "tests/compile/options.h"
#include "tests/random_tensor.h"
#include "treadle/compile/compile.h"
#include "treadle/core/error.h"
#include "treadle/core/parallel_for.h"
#include "treadle/core/runtime.h"
#include "treadle/graph/autograd.h"
#include "treadle/graph/registry.h"
#include "treadle/models/model.h"
#include "treadle/ops/layout/copy.h"
#include "treadle/ops/layout/views.h"
#include "treadle/ops/matrix/linear.h"
#include "treadle/ops/pointwise/pointwise.h"
#include "treadle/ops/random/random.h"
#include "treadle/ops/reduce/reduce.h"
#include "treadle/optim/sgd/sgd.h"

namespace treadle {
namespace {

bool runs(const Program& program, const std::string& variant) {
  for (const ProgramStep& step : program.steps)
    if (step.variant->name == variant) return true;
  return false;
}

TEST(Placement, VariantsForAlignedArgumentsRunOnNoOthers) {
  const Tensor memory = random_tensor({66}, 1, kSimt);
  const Tensor aligned = slice(memory, 0, 0, 64), shifted = slice(memory, 0, 1, 65);
  for (bool aligned_first : {true, false}) {
    auto f = compile([](Tensor x) { return x * x; }, kUnfused);
    for (int i = 0; i < 6; ++i) {
      const Tensor& x = (i % 2 == 0) == aligned_first ? aligned : shifted;
      EXPECT_EQ(f(x).to_vector<float>(), (x * x).to_vector<float>());
      EXPECT_EQ(runs(*f.programs().back().program, "vector4"), x.same_as(aligned)) << i;
    }
    EXPECT_EQ(f.programs().size(), 2u);
  }
}

TEST(Placement, ArgumentsThatNoVariantLooksAtShareAProgram) {
  const Tensor memory = random_tensor({66}, 1);
  auto f = compile([](Tensor x) { return x * x; }, kUnfused);
  for (int64_t i : {0, 1, 2}) {
    const Tensor x = slice(memory, 0, i, 64 + i);
    EXPECT_EQ(f(x).to_vector<float>(), (x * x).to_vector<float>());
  }
  EXPECT_EQ(f.programs().size(), 1u);
}

/// Gradients that a leaf has from before lie anywhere, too.
TEST(Placement, VariantsForAlignedGradientsRunOnNoOthers) {
  Tensor w = random_tensor({64}, 2, kSimt).set_requires_grad();
  const Tensor memory = random_tensor({66}, 3, kSimt);
  auto f = compile([&] { return w.grad() * w.grad(); }, kUnfused);
  for (int64_t i : {0, 1, 0, 1}) {
    w.set_grad(slice(memory, 0, i, 64 + i));
    EXPECT_EQ(f().to_vector<float>(), (w.grad() * w.grad()).to_vector<float>());
    EXPECT_EQ(runs(*f.programs().back().program, "vector4"), i == 0);
  }
}

/// Which of the op's variants take the call at an address. Of absent devices no library is there to ask.
std::vector<bool> takers(const Op& op, CallWithoutMemory& call, uintptr_t begin) {
  std::vector<bool> taken;
  for (const Variant& variant : op.variants)
    if (absence_of(Device{variant.device, 0}).empty())
      taken.push_back(!variant.when || variant.when(call.at(begin)));
  return taken;
}

/// A program's signature holds shapes, layouts, dtypes, options, and whether addresses are multiples of 16:
/// nothing else may decide whether a variant takes a call.
TEST(Placement, ChoicesLookAtAddressesModuloSixteenAlone) {
  struct Threads {
    int before = num_threads();
    ~Threads() { set_num_threads(before); }
  } threads;
  for (const Op* op : registry().ops()) {
    if (!op->cases || op->direct) continue;
    for (const TestCase& c : op->cases()) {
      CallWithoutMemory call(*op, c);
      for (uintptr_t shift : {0, 4}) {
        set_num_threads(1);
        const auto taken = takers(*op, call, 1 << 20 | shift);
        set_num_threads(5);
        for (uintptr_t step : {16, 32, 48, 64, 80, 4096})
          EXPECT_EQ(takers(*op, call, (1 << 20 | shift) + step), taken) << op->name << ", " << c.label;
      }
    }
  }
}

/// A layer's weight, trained inside, and a tensor that is written.
struct PlacedWorld {
  Tensor w = random_tensor({6, 6}, 3).detach().set_requires_grad();
  Tensor kept = random_tensor({6, 6}, 4);
  Tensor other = random_tensor({6, 6}, 5);
  std::shared_ptr<Sgd> sgd = std::make_shared<Sgd>(std::vector<NamedTensor>{{"w", w}}, 0.1);
};

using PlacedFunction = std::function<std::vector<Tensor>(PlacedWorld&, const Tensor&)>;
using Argument = std::function<Tensor(PlacedWorld&)>;

void expect_bits(const Tensor& wanted, const Tensor& got, const std::string& what) {
  EXPECT_EQ(wanted.to_doubles(), got.to_doubles()) << what;
}

/// Calls with each of the arguments in turn, twice over: the same bits as eager calls, where nothing is
/// fused, and nearly them where something is.
void expect_agreement(const PlacedFunction& function, const std::vector<Argument>& arguments,
                      size_t most_programs) {
  for (const CompileOptions& options : {kUnfused, kDeclared}) {
    PlacedWorld eager, compiled;
    CompiledFunction step([&](std::span<const Tensor> list) { return function(compiled, list[0]); }, options);
    for (size_t i = 0; i < 3 * arguments.size(); ++i) {
      const std::string where = fmt::format("{} call {}", options.fuse ? "fused" : "unfused", i);
      const Argument& argument = arguments[i % arguments.size()];
      const Tensor x = argument(compiled);
      auto wanted = function(eager, argument(eager)), got = step({&x, 1});
      for (size_t k = 0; k < wanted.size(); ++k) expect_bits(wanted[k], got[k], where);
      expect_bits(eager.w, compiled.w, where), expect_bits(eager.kept, compiled.kept, where);
    }
    EXPECT_LE(step.programs().size(), most_programs);
  }
}

const Argument kOther = [](PlacedWorld& world) { return world.other; };
const Argument kWeight = [](PlacedWorld& world) { return world.w.detach(); };
const Argument kTransposedWeight = [](PlacedWorld& world) { return transpose(world.w.detach(), 0, 1); };
const Argument kKept = [](PlacedWorld& world) { return world.kept; };

std::vector<Tensor> training_step(PlacedWorld& world, const Tensor& x) {
  world.sgd->zero_grad();
  Tensor loss = sum(linear(x, world.w));
  loss.backward();
  world.sgd->step();
  return {loss, x * 2.0};
}

TEST(Placement, AnArgumentMayBeAParameterThatIsTrained) {
  expect_agreement(training_step, {kWeight}, 1);
  expect_agreement(training_step, {kOther, kWeight}, 2);
  expect_agreement(training_step, {kWeight, kOther, kTransposedWeight}, 3);
}

TEST(Placement, AnArgumentMayBeWrittenAsACapturedTensor) {
  auto function = [](PlacedWorld& world, const Tensor& x) -> std::vector<Tensor> {
    NoGrad no_grad;
    const Tensor before = x + 1.0;
    copy_into(world.kept, world.kept * 0.5);
    return {before, x + 1.0, x};
  };
  expect_agreement(function, {kOther, kKept}, 2);
  expect_agreement(function, {kKept, kOther}, 2);
}

TEST(Placement, AGradientFromBeforeMayLieInWhatIsWritten) {
  auto function = [](PlacedWorld& world, const Tensor& x) -> std::vector<Tensor> {
    NoGrad no_grad;
    copy_into(world.kept, world.kept * 0.5);
    return {world.w.grad() + x};
  };
  const Argument with_own_gradient = [](PlacedWorld& world) {
    return world.w.set_grad(world.other), world.other;
  };
  const Argument with_kept_gradient = [](PlacedWorld& world) {
    return world.w.set_grad(world.kept), world.other;
  };
  expect_agreement(function, {with_own_gradient, with_kept_gradient}, 3);
}

TEST(Placement, ProgramsServeAnyNumberOfThreadsSetLater) {
  struct Threads {
    int before = num_threads();
    ~Threads() { set_num_threads(before); }
  } threads;
  auto model = make_model("fashion_cnn", 3);
  const Tensor x = random_tensor({9, 1, 28, 28}, 6);
  set_num_threads(2);
  auto predict = compile([&](Tensor images) { return (*model)(images); }, kDeclared);
  NoGrad no_grad;
  const auto wanted = predict(x).to_vector<float>();
  for (int count : {1, 7, 2, 3}) {
    set_num_threads(count);
    for (int i = 0; i < 2; ++i) {
      const auto got = predict(x).to_vector<float>();
      for (size_t k = 0; k < got.size(); ++k) EXPECT_NEAR(got[k], wanted[k], 1e-5) << count << " threads";
    }
  }
}

}  // namespace
}  // namespace treadle
