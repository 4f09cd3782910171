/// What the host asks of CUDA, cuBLAS and cuDNN, over a stand-in that is stricter than a GPU: order, streams,
/// allocation, waiting, captures and addresses.
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <thread>
#include <vector>

#include "tests/cuda/stand_in/stand_in.h"
#include "treadle/compile/compile.h"
#include "treadle/core/error.h"
#include "treadle/core/log.h"
#include "treadle/core/runtime.h"
#include "treadle/graph/autograd.h"
#include "treadle/graph/registry.h"
#include "treadle/models/model.h"
#include "treadle/ops/fill/fill.h"
#include "treadle/ops/layout/copy.h"
#include "treadle/ops/loss/cross_entropy.h"
#include "treadle/ops/matrix/matmul.h"
#include "treadle/ops/pointwise/pointwise.h"
#include "treadle/ops/random/random.h"
#include "treadle/optim/adam/adam.h"
#include "treadle/optim/sgd/sgd.h"

namespace treadle {
namespace {

constexpr Device kFirst{DeviceKind::cuda, 0}, kSecond{DeviceKind::cuda, 1};
using Graph = CompileOptions::Graph;

Tensor random_on(Device device, const Shape& shape, uint64_t seed) {
  Generator generator(seed);
  return to(rand(shape, DType::f32, kCpu, generator), device);
}

/// Losses of a few steps, with a learning rate that changes.
template <class Optimizer>
std::vector<double> losses(const char* name, Graph graph, Device device = kFirst) {
  auto model = make_model(name, 1);
  model->to(device);
  Optimizer optimizer(model->named_parameters(), 0.05);
  auto step = compile(
      [&](Tensor x, Tensor labels) {
        optimizer.zero_grad();
        Tensor loss = cross_entropy((*model)(x), labels);
        loss.backward();
        optimizer.step();
        return loss;
      },
      {.measure = false, .graph = graph});
  std::vector<double> values;
  for (uint64_t i = 0; i < 5; ++i) {
    optimizer.set_learning_rate(0.01 / double(i + 1));
    Tensor labels = to(Tensor::from(std::vector<int64_t>{3, int64_t(i)}, {2}), device);
    values.push_back(step(random_on(device, {2, 1, 28, 28}, i), labels).item());
  }
  return values;
}

TEST(CudaHost, LibrariesAreFound) {
  EXPECT_EQ(absence_of(Engine::cublas), "");
  EXPECT_EQ(absence_of(Engine::cudnn), "");
  EXPECT_EQ(device_count(DeviceKind::cuda), stand_in::kDevices);
}

/// The first call runs step by step, the second one captures, later ones launch the graph.
TEST(CudaHost, TrainingByGraphsEqualsTheLoop) {
  for (const char* model : {"mlp", "lenet5"}) {
    const auto before = stand_in::counts();
    const auto by_graph = losses<Sgd>(model, Graph::automatic);
    const auto after = stand_in::counts();
    EXPECT_EQ(after.captures - before.captures, 1) << model;
    EXPECT_EQ(after.graph_launches - before.graph_launches, 4) << model;
    EXPECT_EQ(by_graph, losses<Sgd>(model, Graph::never)) << model;
  }
}

TEST(CudaHost, ASecondDeviceComputesTheSame) {
  EXPECT_EQ(losses<Sgd>("lenet5", Graph::automatic, kSecond), losses<Sgd>("lenet5", Graph::never, kFirst));
}

/// Adam counts its steps on the host: a capture that fails must not count one twice, or none.
TEST(CudaHost, ACaptureThatFailsIsReplacedByTheLoopAndSaidOnce) {
  std::vector<std::string> messages;
  set_log_handler([&](LogLevel, std::string_view message) { messages.emplace_back(message); });
  stand_in::refuse_captures(true);
  const auto first = losses<Adam>("mlp", Graph::automatic), second = losses<Adam>("mlp", Graph::automatic);
  stand_in::refuse_captures(false);
  set_log_handler({});
  EXPECT_EQ(first, losses<Adam>("mlp", Graph::never));
  EXPECT_EQ(first, second);
  ASSERT_EQ(messages.size(), 1u);
  EXPECT_NE(messages[0].find("cannot be captured as a graph"), std::string::npos) << messages[0];
}

TEST(CudaHost, ReplaysAllocateNothing) {
  NoGrad no_grad;
  Tensor w = random_on(kFirst, {64, 32}, 1);
  auto f = compile([&](Tensor x) { return relu(matmul(x, w)); }, {.measure = false});
  const Tensor x = random_on(kFirst, {8, 64}, 2);
  Tensor result;
  for (int i = 0; i < 3; ++i) result = f(x);
  const int64_t before = stand_in::counts().allocations;
  for (int i = 0; i < 50; ++i) result = f(x);
  EXPECT_EQ(stand_in::counts().allocations, before);
}

/// Step times are taken with the loop, on the device's stream, after a graph was captured as well as before.
TEST(CudaHost, StepsCanBeTimedAfterACapture) {
  NoGrad no_grad;
  Tensor w = random_on(kFirst, {16, 16}, 1);
  auto f = compile([&](Tensor x) { return relu(matmul(x, w) + 1.0); }, {.measure = false});
  const Tensor x = random_on(kFirst, {4, 16}, 2);
  const auto wanted = f(x).to_vector<float>();
  for (int i = 0; i < 3; ++i) f(x);
  const StepTimes times = f.untyped().time_steps({&x, 1}, 3);
  for (double seconds : times.seconds) EXPECT_LT(seconds, 1e9);
  EXPECT_EQ(f(x).to_vector<float>(), wanted);
}

TEST(CudaHost, CopiesFromTheHostWait) {
  std::vector<float> values(1000, 1.f);
  Tensor x = Tensor::zeros({1000}, DType::f32, kFirst);
  runtime(kFirst).copy_from_host(x.raw(), values.data(), 4000);
  values.assign(1000, 2.f);
  EXPECT_EQ(x.to_vector<float>(), std::vector<float>(1000, 1.f));
}

TEST(CudaHost, WorkThatFailsIsAnErrorAtTheNextWait) {
  Tensor x = Tensor::zeros({4}, DType::f32, kFirst);
  auto* stream = static_cast<cudaStream_t>(runtime(kFirst).stream());
  ASSERT_EQ(stand_in::enqueue(stream, [] { throw std::runtime_error("a kernel's mistake"); }), cudaSuccess);
  EXPECT_THROW(x.to_vector<float>(), DeviceError);
  EXPECT_THROW((x + 1.0).to_vector<float>(), DeviceError);
  EXPECT_EQ(stand_in::take_device_error(), "a kernel's mistake");
  EXPECT_EQ((Tensor::zeros({2}, DType::f32, kFirst) + 1.0).to_vector<float>(), std::vector<float>(2, 1.f));
}

std::string refusal(const std::function<void()>& work) {
  try {
    runtime(kFirst).capture(work);
  } catch (const DeviceError& error) {
    return error.what();
  }
  return "no error";
}

TEST(CudaHost, ACaptureRefusesWhatItCannotHold) {
  Runtime& device = runtime(kFirst);
  Tensor x = Tensor::zeros({4}, DType::f32, kFirst);
  std::vector<float> host(4);
  const std::pair<std::function<void()>, const char*> misuses[] = {
      {[&] { device.allocate(64); }, "allocates device memory"},
      {[&] { device.copy_from_host(x.raw(), host.data(), 16); }, "copies from the host"},
      {[&] { device.copy_to_host(host.data(), x.raw(), 16); }, "copies to the host"},
      {[&] { device.synchronize(); }, "waits for the device"},
      {[&] { device.capture([] {}); }, "captures another graph"},
  };
  for (const auto& [work, what] : misuses) EXPECT_NE(refusal(work).find(what), std::string::npos) << what;
  EXPECT_EQ(x.to_vector<float>(), std::vector<float>(4, 0.f));
}

/// Given back at once it would break the capture off.
TEST(CudaHost, MemoryFreedWhileCapturingFailsTheCaptureAndIsGivenBackLater) {
  Runtime& device = runtime(kFirst);
  void* block = device.allocate(64);
  const std::string message = refusal([&] { device.free(block); });
  EXPECT_NE(message.find("frees device memory"), std::string::npos) << message;
  auto* stream = static_cast<cudaStream_t>(device.stream());
  EXPECT_FALSE(stand_in::is_device_memory(stream, block, 64));
}

/// A kernel may only go to a stream of the current device, whatever the thread did in between.
TEST(CudaHost, ProgramsOfTwoDevicesTakeTurns) {
  NoGrad no_grad;
  auto counter = [](Device device) {
    return compile([w = random_on(device, {8, 8}, 1)] { return std::vector<Tensor>{matmul(w, w)}; },
                   {.measure = false, .graph = Graph::never});
  };
  auto first = counter(kFirst), second = counter(kSecond);
  std::vector<Tensor> results[2];
  for (int i = 0; i < 3; ++i) results[0] = first(), results[1] = second();
  EXPECT_EQ(results[0][0].to_vector<float>(), results[1][0].to_vector<float>());
}

/// A program is recorded and captured in each thread while the others do the same, on one device.
TEST(CudaHost, ThreadsCaptureSideBySide) {
  const auto wanted = losses<Sgd>("mlp", Graph::never);
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] { wrong += losses<Sgd>("mlp", Graph::automatic) != wanted; });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace treadle
