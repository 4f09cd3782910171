/// Long runs: compiled and eager steps, replays that allocate nothing, and memory that does
/// not grow.
#include <gtest/gtest.h>
#include <malloc.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <map>
#include <memory>
#include <new>

#include "tests/compile/network_bounds.h"
#include "treadle/compile/compile.h"
#include "treadle/core/allocator.h"
#include "treadle/graph/autograd.h"
#include "treadle/graph/settings.h"
#include "treadle/models/model.h"
#include "treadle/ops/fill/fill.h"
#include "treadle/ops/layout/copy.h"
#include "treadle/ops/loss/cross_entropy.h"
#include "treadle/ops/matrix/linear.h"
#include "treadle/ops/pointwise/pointwise.h"
#include "treadle/ops/random/random.h"
#include "treadle/ops/reduce/reduce.h"
#include "treadle/optim/adam/adam.h"
#include "treadle/optim/sgd/sgd.h"

namespace {

std::atomic<uint64_t> news_made{0};

#ifndef __SANITIZE_ADDRESS__
void* counted(size_t bytes, size_t alignment) {
  ++news_made;
  void* memory = alignment <= alignof(std::max_align_t)
                     ? std::malloc(bytes)
                     : std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  if (!memory) throw std::bad_alloc();
  return memory;
}

#endif

}  // namespace

// Every allocation by C++ code is counted, that of shared libraries too. Inlined, the functions would look
// mismatched to the compiler; the address sanitizer keeps its own.
#ifndef __SANITIZE_ADDRESS__
#define REPLACED [[gnu::noinline, gnu::visibility("default")]]
REPLACED void* operator new(size_t bytes) { return counted(bytes, 1); }
REPLACED void* operator new(size_t bytes, std::align_val_t alignment) {
  return counted(bytes, size_t(alignment));
}
REPLACED void operator delete(void* memory) noexcept { std::free(memory); }
REPLACED void operator delete(void* memory, size_t) noexcept { std::free(memory); }
REPLACED void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
REPLACED void operator delete(void* memory, size_t, std::align_val_t) noexcept { std::free(memory); }
#endif

namespace treadle {
namespace {

constexpr int64_t kBatch = 4;

// Sanitizers slow a step down fifty times, and see what there is to see in the first ones.
#if defined(__SANITIZE_ADDRESS__)
constexpr uint64_t kAgreeingSteps = 20;
#else
constexpr uint64_t kAgreeingSteps = 200;
#endif
constexpr uint64_t kComparedSteps = 49;  ///< every so many; a comparison takes some hundred steps' time

struct Batch {
  Tensor images, labels;
};

/// Ten classes that differ in brightness, so that there is something to learn.
Batch batch(const Shape& image, uint64_t number) {
  Generator generator(number);
  std::vector<int64_t> labels;
  for (int64_t i = 0; i < kBatch; ++i) labels.push_back(int64_t((number * 3 + uint64_t(i)) % 10));
  Tensor classes = Tensor::from(labels, {kBatch});
  Tensor images = rand({kBatch, image[0], image[1], image[2]}, DType::f32, kCpu, generator);
  for (int64_t i = 0; i < kBatch; ++i)
    for (int64_t k = 0; k < image.numel(); ++k)
      images.data<float>()[i * image.numel() + k] += 0.1f * float(labels[size_t(i)]) - 1;
  return {images, classes};
}

struct SteadyTraining {
  std::shared_ptr<Module> model;
  std::unique_ptr<Optimizer> optimizer;
  SteadyTraining(const std::string& name, const std::string& rule, double rate)
      : model(make_model(name, 7)), optimizer(make_optimizer(rule, model->named_parameters(), rate)) {}
  Tensor operator()(const Tensor& images, const Tensor& labels) {
    optimizer->zero_grad();
    Tensor loss = cross_entropy((*model)(images), labels);
    loss.backward();
    optimizer->step();
    return loss;
  }
};

struct Case {
  const char *model, *optimizer;
  double rate;
};
std::ostream& operator<<(std::ostream& out, const Case& one) {
  return out << one.model << " with " << one.optimizer;
}

class Models : public ::testing::TestWithParam<Case> {
 protected:
  static Shape image() { return {1, 28, 28}; }
  static SteadyTraining make() { return {GetParam().model, GetParam().optimizer, GetParam().rate}; }
};

/// A program of the ops that eager calls run, by the same variants.
TEST_P(Models, TwoHundredStepsHaveTheBitsOfEagerOnes) {
  SteadyTraining eager = make(), compiled = make();
  auto step = compile([&](Tensor x, Tensor y) { return compiled(x, y); }, {.measure = false, .fuse = false});
  for (uint64_t i = 0; i < kAgreeingSteps; ++i) {
    auto [images, labels] = batch(image(), i);
    ASSERT_EQ(eager(images, labels).item(), step(images, labels).item()) << "step " << i;
  }
  auto wanted = eager.model->parameters(), got = compiled.model->parameters();
  for (size_t i = 0; i < wanted.size(); ++i) EXPECT_EQ(wanted[i].to_doubles(), got[i].to_doubles()) << i;
  EXPECT_EQ(step.programs().size(), 1u);
}

/// Slots of the optimiser and parameters, in double.
struct State {
  std::map<std::string, std::vector<double>> numbers;
  explicit State(const SteadyTraining& training) {
    for (auto& [name, tensor] : training.optimizer->state()) numbers[name] = tensor.to_doubles();
    for (auto& [name, tensor] : training.model->named_parameters()) numbers[name] = tensor.to_doubles();
  }
};

/// How far apart two numbers are, in units of what is allowed.
double share(double a, double b, double allowed) {
  const double distance = std::fabs(a - b);
  return distance == 0 ? 0 : distance / allowed;
}

/// The worst share of a parameter's new numbers, after a step from `before` with a gradient of which only a
/// neighbourhood is known. Slots are compared with what the rule makes of that gradient; the parameter of
/// Adam, whose division by the root of the second moment makes steps of the learning rate out of noise, with
/// what it makes of the slots that are there.
class UpdateCheck {
 public:
  UpdateCheck(std::string rule, double rate, const State& before, const State& after)
      : rule_(std::move(rule)), rate_(rate), before_(before.numbers), after_(after.numbers) {}

  double worst(const std::string& name, const Bounded& gradient) const {
    const auto &p = before_.at(name), &now = after_.at(name);
    double worst = 0;
    for (size_t i = 0; i < p.size(); ++i) {
      const double g = gradient.values[i], error = gradient.errors[i];
      double step = rate_ * g, step_error = rate_ * error;
      if (rule_ == "momentum") {
        const double b = momentum(name, i, g), unsure = error + kUnits * (std::fabs(b) + std::fabs(g));
        worst = std::max(worst, share(after_.at(name + ".momentum")[i], b, unsure));
        step = rate_ * b, step_error = rate_ * unsure;
      }
      if (rule_ == "adam") {
        worst = std::max(worst, worst_moment(name, i, g, error));
        step = adam_step(name, i), step_error = 0;
      }
      const double allowed = step_error + kUnits * (std::fabs(p[i]) + std::fabs(step));
      worst = std::max(worst, share(now[i], p[i] - step, allowed));
    }
    return worst;
  }

 private:
  static constexpr double kUnits = 8 * 0x1p-24;  ///< a rule's roundings in f32, six at most
  static constexpr double kBeta1 = 0.9, kBeta2 = 0.999, kEpsilon = 1e-8;

  double step_number() const { return after_.at("step")[0]; }

  double momentum(const std::string& name, size_t i, double g) const {
    return step_number() == 1 ? g : 0.9 * before_.at(name + ".momentum")[i] + g;
  }

  double worst_moment(const std::string& name, size_t i, double g, double error) const {
    const double m = before_.at(name + ".first_moment")[i], v = before_.at(name + ".second_moment")[i];
    const double first = m + (1 - kBeta1) * (g - m), second = kBeta2 * v + (1 - kBeta2) * g * g;
    const double first_error = (1 - kBeta1) * error + kUnits * (std::fabs(m) + std::fabs(g));
    const double second_error =
        (1 - kBeta2) * error * (2 * std::fabs(g) + error) + kUnits * second + kSmallest;
    return std::max(share(after_.at(name + ".first_moment")[i], first, first_error + kSmallest),
                    share(after_.at(name + ".second_moment")[i], second, second_error));
  }

  double adam_step(const std::string& name, size_t i) const {
    const double root = std::sqrt(1 - std::pow(kBeta2, step_number()));
    const double rate = rate_ * root / (1 - std::pow(kBeta1, step_number()));
    return rate * after_.at(name + ".first_moment")[i] /
           (std::sqrt(after_.at(name + ".second_moment")[i]) + kEpsilon * root);
  }

  static constexpr double kSmallest = 0x1p-126;  ///< what is flushed
  std::string rule_;
  double rate_;
  const std::map<std::string, std::vector<double>>&before_, &after_;
};

/// Steps from equal states along an eager run: trajectories themselves are chaotic. Eager and compiled ones
/// are each compared with the network in double.
TEST_P(Models, FusedAndMeasuredStepsRoundAsDerived) {
  SteadyTraining eager = make(), compiled = make();
  auto step = compile([&](Tensor x, Tensor y) { return compiled(x, y); });
  NetworkBounds bounds(stages_of(GetParam().model), largest_growth());
  for (uint64_t i = 0; i < kAgreeingSteps; ++i) {
    auto [images, labels] = batch(image(), i);
    if (i % kComparedSteps != 0) {
      eager(images, labels);
      continue;
    }
    compiled.model->load_state_dict(eager.model->state_dict());
    compiled.optimizer->load_state(eager.optimizer->state());
    const State before(eager);
    bounds.analyse(eager.model->named_parameters(), images, labels);
    const double losses[] = {eager(images, labels).item(), step(images, labels).item()};
    const State after[] = {State(eager), State(compiled)};
    for (int way : {0, 1}) {
      const char* name = way == 0 ? "eager" : "compiled";
      EXPECT_LE(share(losses[way], bounds.loss(), bounds.loss_error()), 1) << name << " loss, step " << i;
      const UpdateCheck check(GetParam().optimizer, GetParam().rate, before, after[way]);
      for (auto& [parameter, tensor] : eager.model->named_parameters())
        EXPECT_LE(check.worst(parameter, bounds.gradient(parameter)), 1)
            << name << " " << parameter << ", step " << i;
    }
  }
  EXPECT_EQ(step.programs().size(), 1u);
}

/// oneDNN makes objects of its own in each call, one call for each thread's block.
constexpr uint64_t kPerLibraryCall = 64;

uint64_t library_calls(const Program& program) {
  uint64_t count = 0;
  for (const ProgramStep& step : program.steps) count += step.variant->engine != Engine::own;
  return count;
}

/// Blocks of the device in `calls` calls, and in *news what C++ code allocated.
template <class F>
uint64_t allocations(int calls, uint64_t* news, F&& call) {
  for (int i = 0; i < 5; ++i) call();
  auto blocks = allocator(kCpu).statistics().allocations;
  uint64_t before = news_made;
  for (int i = 0; i < calls; ++i) call();
  *news = news_made - before;
  return allocator(kCpu).statistics().allocations - blocks;
}

TEST_P(Models, ReplaysAllocateNothing) {
  SteadyTraining training = make();
  auto step = compile([&](Tensor x, Tensor y) { return training(x, y); });
  auto predict = compile([&](Tensor x) { return (*training.model)(x); });
  auto [images, labels] = batch(image(), 1);
  uint64_t news = 0;
  EXPECT_EQ(allocations(10, &news, [&, &x = images, &y = labels] { step(x, y); }), 0u);
  EXPECT_LE(news, 10u * kPerLibraryCall * library_calls(*step.programs()[0].program));
  NoGrad no_grad;
  EXPECT_EQ(allocations(10, &news, [&, &x = images] { predict(x); }), 0u);
  EXPECT_LE(news, 10u * kPerLibraryCall * library_calls(*predict.programs()[0].program));
}

TEST_P(Models, ReplaysOfOurOwnKernelsAllocateNothingAtAll) {
  struct Own {
    Own() { settings().own_engine_only = true; }
    ~Own() { settings().own_engine_only = false; }
  } own;
  SteadyTraining training = make();
  auto step = compile([&](Tensor x, Tensor y) { return training(x, y); });
  auto [images, labels] = batch(image(), 1);
  uint64_t news = 0;
  EXPECT_EQ(allocations(10, &news, [&, &x = images, &y = labels] { step(x, y); }), 0u);
  EXPECT_EQ(news, 0u);
}

INSTANTIATE_TEST_SUITE_P(All, Models,
                         ::testing::Values(Case{"mlp", "sgd", 0.05}, Case{"lenet5", "sgd", 0.05},
                                           Case{"fashion_cnn", "sgd", 0.02}, Case{"mlp", "momentum", 0.01},
                                           Case{"lenet5", "adam", 0.001}, Case{"fashion_cnn", "adam", 0.001}),
                         [](const auto& info) {
                           return std::string(info.param.model) + "_" + info.param.optimizer;
                         });

/// Gradients that a function leaves are written where the last ones were.
TEST(Steady, LeftGradientsAllocateNothing) {
  auto model = make_model("mlp", 7);
  auto [images, labels] = batch({1, 28, 28}, 1);
  auto step = compile([&](Tensor x, Tensor y) {
    model->zero_grad();
    Tensor loss = cross_entropy((*model)(x), y);
    loss.backward();
    return loss;
  });
  for (int i = 0; i < 5; ++i) step(images, labels);
  auto held = model->parameters()[0].grad();
  auto values = held.to_doubles();
  step(images + 1.0, labels);
  EXPECT_EQ(held.to_doubles(), values) << "a gradient that the caller holds was overwritten";
  EXPECT_NE(model->parameters()[0].grad().to_doubles(), values);
  held = {};
  step(images, labels), step(images, labels);
  auto blocks = allocator(kCpu).statistics().allocations;
  for (int i = 0; i < 10; ++i) step(images, labels);
  EXPECT_EQ(allocator(kCpu).statistics().allocations, blocks);
}

size_t resident_bytes() {
  size_t total = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> total >> resident;
  return resident * size_t(::sysconf(_SC_PAGESIZE));
}

/// Whether a call records the function again and compares, and may choose variants again: powers of four.
bool is_compared(int64_t call) {
  int64_t power = 4;
  while (power < call) power *= 4;
  return power == call;
}

TEST(Steady, AHundredThousandReplays) {
  constexpr int64_t kSteps = 100'000;
  Tensor w = full({3, 4}, 0.5).set_requires_grad();
  Adam adam({{"w", w}}, 0.5);
  Schedule schedule = Schedule::named("cosine", 0.01, {kSteps});
  adam.set_schedule(schedule);
  auto step = compile([&](Tensor x, Tensor y) {
    adam.zero_grad();
    Tensor loss = cross_entropy(linear(x, w), y);
    loss.backward();
    adam.step();
    return loss;
  });
  Generator generator(1);
  Tensor x = rand({2, 4}, DType::f32, kCpu, generator);
  Tensor y = Tensor::from(std::vector<int64_t>{1, 2}, {2});
  Tensor loss;
  for (int64_t i = 0; i < 1000; ++i) loss = step(x, y);
  auto blocks = allocator(kCpu).statistics();
  size_t resident = resident_bytes();
  uint64_t news = 0, allocations = 0;
  for (int64_t i = 1000; i < kSteps; ++i) {
    loss = {};
    const uint64_t before = news_made, allocations_before = allocator(kCpu).statistics().allocations;
    loss = step(x, y);
    if (!is_compared(i + 1))
      news += news_made - before,
          allocations += allocator(kCpu).statistics().allocations - allocations_before;
    if (adam.learning_rate() != schedule.at(i) || adam.step_count() != i + 1) FAIL() << "step " << i;
  }
  EXPECT_EQ(news, 0u);
  EXPECT_EQ(allocations, 0u);
  EXPECT_EQ(allocator(kCpu).statistics().allocated_bytes, blocks.allocated_bytes);
  // The smallest block lost in each step would be 1.5 MiB; the sanitizers' own memory grows by some pages.
  EXPECT_LE(resident_bytes(), resident + 512 * 1024);
  EXPECT_TRUE(std::isfinite(loss.item()));
  EXPECT_EQ(step.programs()[0].calls, kSteps);
}

TEST(Steady, ManySignaturesKeepMemoryBounded) {
  CompileOptions options;
  options.measure = false;
  options.most_programs = 8;
  auto f = compile([](Tensor x) { return sum(x * x + x); }, options);
  auto round = [&](int64_t from) {
    for (int64_t n = from; n < from + 400; ++n) f(full({n % 97 + 1, 16}, 1));
  };
  round(0);
  auto blocks = allocator(kCpu).statistics().allocated_bytes;
  struct mallinfo2 heap = ::mallinfo2();
  for (int i = 1; i < 6; ++i) round(i * 400);
  EXPECT_LE(allocator(kCpu).statistics().allocated_bytes, blocks + 64 * 1024);
  EXPECT_LE(::mallinfo2().uordblks, heap.uordblks + 64 * 1024);
}

}  // namespace
}  // namespace treadle
