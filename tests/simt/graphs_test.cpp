// Graphs: work is recorded with its addresses, done again in order, and what a GPU's capture refuses is
// refused.
#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tests/simt/kernels.h"
#include "treadle/core/error.h"
#include "treadle/core/runtime.h"
#include "treadle/simt/graph.h"
#include "treadle/simt/memory.h"
#include "treadle/simt/stream.h"

namespace treadle::simt {
namespace {

constexpr int kCount = 300;
constexpr size_t kBytes = kCount * sizeof(float);

Runtime& device() { return runtime(kSimt); }
stream_t device_stream() { return static_cast<stream_t>(device().stream()); }

/// kCount floats on the device.
class Buffer {
 public:
  explicit Buffer(float value) : data_(static_cast<float*>(device().allocate(kBytes))) { set(value); }
  ~Buffer() { device().free(data_); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  float* data() const { return data_; }
  operator float*() const { return data_; }
  void set(float value) { std::fill_n(data_, kCount, value); }
  std::vector<float> values() const { return {data_, data_ + kCount}; }

 private:
  float* data_;
};

std::vector<float> all(float value) { return std::vector<float>(kCount, value); }

/// y := x; y += 2·x; x := 0; sum := Σ y
std::unique_ptr<RecordedGraph> capture_steps(const Buffer& x, const Buffer& y, const Buffer& sum) {
  return capture_graph([&] {
    device().copy_within(y, x, kBytes);
    scale_and_add(device_stream(), 2.f, x.data(), y.data(), kCount);
    device().fill_bytes(x, 0, kBytes);
    block_sum_static(device_stream(), y.data(), sum.data(), 256);
  });
}

TEST(Graphs, WorkIsRecordedAndNotDone) {
  const Buffer x(1), y(5), sum(7);
  const uint64_t work = Stream::default_stream().work_count();
  const auto graph = capture_steps(x, y, sum);
  EXPECT_EQ(graph->nodes().size(), 4u);
  EXPECT_EQ(x.values(), all(1));
  EXPECT_EQ(y.values(), all(5));
  EXPECT_EQ(sum.values(), all(7));
  EXPECT_EQ(Stream::default_stream().work_count(), work);
}

TEST(Graphs, LaunchDoesTheWorkInOrderEachTime) {
  Buffer x(1), y(5), sum(7);
  const auto graph = capture_steps(x, y, sum);
  for (float value : {1.f, 4.f}) {
    x.set(value);
    graph->launch();
    EXPECT_EQ(x.values(), all(0));
    EXPECT_EQ(y.values(), all(3 * value));
    EXPECT_EQ(sum.values()[0], 256 * 3 * value);
  }
}

TEST(Graphs, TheRuntimesGraphIsARecordedGraph) {
  const Buffer x(1), y(2);
  const auto graph =
      device().capture([&] { scale_and_add(device_stream(), 1.f, x.data(), y.data(), kCount); });
  EXPECT_NE(dynamic_cast<RecordedGraph*>(graph.get()), nullptr);
  graph->launch();
  EXPECT_EQ(y.values(), all(3));
}

TEST(Graphs, NodesSayWhatWasLaunched) {
  const Buffer x(1), y(5), sum(7);
  const auto graph = capture_steps(x, y, sum);
  const auto& nodes = graph->nodes();
  EXPECT_EQ(nodes[0].kind, GraphNodeKind::copy);
  EXPECT_EQ(nodes[1].kind, GraphNodeKind::kernel);
  EXPECT_EQ(nodes[2].kind, GraphNodeKind::fill);
  EXPECT_EQ(nodes[1].kernel.rfind("scale_and_add_kernel", 0), 0u) << nodes[1].kernel;
  EXPECT_EQ(nodes[3].kernel.rfind("block_sum_static_kernel", 0), 0u) << nodes[3].kernel;
  EXPECT_EQ(nodes[1].grid, (std::array<unsigned, 3>{2, 1, 1}));
  EXPECT_EQ(nodes[1].block, (std::array<unsigned, 3>{256, 1, 1}));
  EXPECT_EQ(nodes[0].bytes, kBytes);
  EXPECT_EQ(nodes[2].bytes, kBytes);
}

TEST(Graphs, NodesSayWhichAddressesTheyUse) {
  using Addresses = std::vector<const void*>;
  const Buffer x(1), y(5), sum(7);
  const auto graph = capture_steps(x, y, sum);
  const auto& nodes = graph->nodes();
  const Addresses of_x[] = {{x}, {x}, {x}, {}}, of_y[] = {{y}, {y}, {}, {y}}, of_sum[] = {{}, {}, {}, {sum}};
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(nodes[i].addresses_in(x, kBytes), of_x[i]) << i;
    EXPECT_EQ(nodes[i].addresses_in(y, kBytes), of_y[i]) << i;
    EXPECT_EQ(nodes[i].addresses_in(sum, kBytes), of_sum[i]) << i;
  }
}

TEST(Graphs, WorkOnOtherStreamsIsDoneAtOnce) {
  const Buffer x(1), y(2);
  Stream other;
  const auto graph = capture_graph([&] { scale_and_add(&other, 1.f, x.data(), y.data(), kCount); });
  EXPECT_TRUE(graph->nodes().empty());
  EXPECT_EQ(y.values(), all(3));
}

TEST(Graphs, WorkOfOtherThreadsIsDoneAtOnce) {
  const Buffer x(1), y(2);
  const auto graph = capture_graph([&] {
    std::thread([&] {
      scale_and_add(device_stream(), 1.f, x.data(), y.data(), kCount);
      device().synchronize();
    }).join();
  });
  EXPECT_TRUE(graph->nodes().empty());
  EXPECT_EQ(y.values(), all(3));
}

/// The message of the DeviceError that capturing `work` throws.
std::string refusal(const std::function<void()>& work) {
  try {
    device().capture(work);
  } catch (const DeviceError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Graphs, WhatACaptureOnAGpuRefusesIsRefused) {
  Buffer x(1);
  std::vector<float> host(kCount);
  const auto graph = capture_graph([] {});
  const std::pair<std::function<void()>, const char*> misuses[] = {
      {[] { device().allocate(64); }, "allocates device memory"},
      {[&] { device().copy_from_host(x, host.data(), kBytes); }, "copies from the host"},
      {[&] { device().copy_to_host(host.data(), x, kBytes); }, "copies to the host"},
      {[&] { stencil(device_stream(), host.data(), x, x, 1); }, "copies from the host"},
      {[] { device().synchronize(); }, "waits for the device"},
      {[] { Stream::default_stream().query(); }, "asks whether the device is done"},
      {[] { Stream::default_stream().submit([] {}); }, "calls a function of the host"},
      {[] { Event().record(); }, "records an event"},
      {[] { device().capture([] {}); }, "captures another graph"},
      {[&] { graph->launch(); }, "launches a graph"},
  };
  for (const auto& [work, what] : misuses)
    EXPECT_EQ(refusal(work), std::string("simt: a graph is being captured, and the work ") + what);
  EXPECT_NO_THROW(device().synchronize());
}

TEST(Graphs, FreeingMemoryFailsTheCaptureAndFreesItAfterwards) {
  void* block = device().allocate(64);
  const size_t live = memory_statistics().live_blocks;
  const std::string message = refusal([&] {
    device().free(block);
    EXPECT_EQ(memory_statistics().live_blocks, live);
  });
  EXPECT_NE(message.find("frees device memory"), std::string::npos) << message;
  EXPECT_EQ(memory_statistics().live_blocks, live - 1);
}

TEST(Graphs, WhatTheWorkThrowsPassesThroughAndEndsTheCapture) {
  const Buffer x(1), y(2);
  EXPECT_THROW(device().capture([] { throw std::out_of_range("mine"); }), std::out_of_range);
  scale_and_add(device_stream(), 1.f, x.data(), y.data(), kCount);
  EXPECT_EQ(y.values(), all(3));
}

TEST(Graphs, AnImpossibleLaunchIsRefusedWhenItIsRecorded) {
  unsigned seen = 0;
  EXPECT_THROW(device().capture([&] { thread_coordinates(device_stream(), dim3(1), dim3(2000), &seen); }),
               DeviceError);
}

TEST(Graphs, TheCpuHasNone) {
  bool called = false;
  EXPECT_EQ(runtime(kCpu).capture([&] { called = true; }), nullptr);
  EXPECT_FALSE(called);
}

}  // namespace
}  // namespace treadle::simt
