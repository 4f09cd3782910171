/// Tensors, the caching allocator and devices.
#include "treadle/core/tensor.h"

#include <gtest/gtest.h>

#include <thread>

#include "treadle/core/allocator.h"
#include "treadle/core/error.h"
#include "treadle/core/log.h"

namespace treadle {
namespace {

TEST(Tensor, HoldsValuesRowMajor) {
  Tensor x = Tensor::from({1, 2, 3, 4, 5, 6}, {2, 3});
  EXPECT_EQ(x.shape(), (Shape{2, 3}));
  EXPECT_EQ(x.to_vector<float>(), (std::vector<float>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(x.alias({3, 2}, {1, 3}).to_vector<float>(), (std::vector<float>{1, 4, 2, 5, 3, 6}));
}

TEST(Tensor, AliasesOfAliasesCountFromTheirOwnBeginning) {
  const Tensor x = Tensor::from({0, 1, 2, 3, 4, 5}, {6});
  const Tensor behind = x.alias({4}, {1}, 2);
  EXPECT_EQ(behind.alias({2}, {1}, 1).to_vector<float>(), (std::vector<float>{3, 4}));
}

TEST(Tensor, RefusesWhatDoesNotFit) {
  EXPECT_THROW(Tensor::from({1, 2, 3}, {2, 2}), ShapeError);
  Tensor x = Tensor::from({1, 2}, {2});
  EXPECT_THROW(x.data<double>(), DTypeError);
  EXPECT_THROW(x.item(), ShapeError);
  EXPECT_THROW(Tensor::empty({INT64_MAX / 2, 1}), ShapeError);
}

TEST(Tensor, LiesOverMemoryOfOthersUntilTheLastViewIsGone) {
  float values[] = {0, 1, 2, 3, 4, 5};
  int released = 0;
  {
    Tensor view;
    {
      const Tensor x = Tensor::over(values, {2, 2}, {3, 2}, DType::f32, kCpu, [&] { ++released; });
      EXPECT_EQ(x.to_vector<float>(), (std::vector<float>{0, 2, 3, 5}));
      view = x.alias({2}, {3}, 2);
    }
    EXPECT_EQ(released, 0);
    view.data<float>()[0] = 7;
    EXPECT_EQ(values[2], 7);
  }
  EXPECT_EQ(released, 1);
  EXPECT_THROW(Tensor::over(values, {6}, {-1}, DType::f32, kCpu, [&] { ++released; }), ShapeError);
  EXPECT_EQ(released, 1) << "who could not hand the memory over keeps it";
  EXPECT_EQ(Tensor::over(nullptr, {0, 3}, {3, 1}, DType::f32, kCpu, [&] { ++released; }).numel(), 0);
  EXPECT_EQ(released, 2);
}

TEST(Tensor, AbsentDeviceSaysWhy) {
  if (device_count(DeviceKind::cuda) > 0) GTEST_SKIP() << "a GPU is present";
  try {
    Tensor::zeros({2}, DType::f32, Device{DeviceKind::cuda, 0});
    FAIL() << "no exception";
  } catch (const DeviceError& error) {
    EXPECT_NE(std::string(error.what()).find("cuda:0 is not available"), std::string::npos) << error.what();
  }
}

TEST(Tensor, TakesTheValuesOfAViewBehindTheBeginning) {
  Tensor whole = Tensor::from({1, 2, 3, 4}, {4}), other = Tensor::zeros({2});
  other.assign(whole.alias({2}, {1}, 2));
  EXPECT_EQ(other.to_vector<float>(), (std::vector<float>{3, 4}));
}

TEST(Log, SaysOnceWhatItIsToldTwice) {
  std::vector<std::string> heard;
  set_log_handler([&](LogLevel, std::string_view message) { heard.emplace_back(message); });
  for (const char* message : {"first of this test", "second of this test", "first of this test"})
    log_once(LogLevel::info, message);
  set_log_handler({});
  EXPECT_EQ(heard, (std::vector<std::string>{"first of this test", "second of this test"}));
}

TEST(Device, ParsesNames) {
  EXPECT_EQ(device_named("cuda:3"), (Device{DeviceKind::cuda, 3}));
  EXPECT_EQ(device_named("simt"), kSimt);
  for (const char* wrong : {"gpu", "cuda:", "cuda:x", "cuda:1x", "cuda:-1", ""})
    EXPECT_THROW(device_named(wrong), ValueError) << wrong;
}

/// A runtime with room for a few bytes, to see what happens when a device is full.
class SmallRuntime final : public Runtime {
 public:
  void* allocate(size_t bytes) override {
    if (used + bytes > 4096) throw DeviceError("full");
    used += bytes;
    sizes[memory.emplace_back(std::make_unique<char[]>(bytes)).get()] = bytes;
    return memory.back().get();
  }
  void free(void* block) noexcept override { used -= sizes[block]; }
  void copy_from_host(void*, const void*, size_t) override {}
  void copy_to_host(void*, const void*, size_t) override {}
  void copy_within(void*, const void*, size_t) override {}
  void fill_bytes(void*, int, size_t) override {}
  void synchronize() override {}
  void* stream() override { return nullptr; }
  std::string description() const override { return "small"; }

  size_t used = 0;
  std::vector<std::unique_ptr<char[]>> memory;
  std::map<void*, size_t> sizes;
};

TEST(CachingAllocator, ReusesBlocksAndCounts) {
  SmallRuntime runtime;
  CachingAllocator allocator(runtime);
  void* first = allocator.allocate(1000);
  allocator.free(first, 1000);
  void* second = allocator.allocate(990);
  auto statistics = allocator.statistics();
#if !defined(__SANITIZE_ADDRESS__)
  EXPECT_EQ(first, second);
  EXPECT_EQ(statistics.device_calls, 1u);
#endif
  EXPECT_EQ(statistics.allocations, 2u);
  EXPECT_GE(statistics.peak_bytes, 1000u);
  allocator.free(second, 990);
  EXPECT_EQ(allocator.statistics().allocated_bytes, 0u);
  allocator.free(allocator.allocate(100), 100);
  EXPECT_GE(allocator.statistics().peak_bytes, 1000u) << "the peak stays";
  allocator.reset_peak();
  EXPECT_EQ(allocator.statistics().peak_bytes, 0u);
  allocator.release_cache();
  EXPECT_EQ(allocator.statistics().reserved_bytes, 0u);
  EXPECT_EQ(runtime.used, 0u);
}

TEST(CachingAllocator, GivesItsCacheBackBeforeItFails) {
  SmallRuntime runtime;
  CachingAllocator allocator(runtime);
  void* block = allocator.allocate(3000);
  allocator.free(block, 3000);
  void* other = allocator.allocate(2000);
  EXPECT_THROW(allocator.allocate(4000), DeviceError);
  allocator.free(other, 2000);
}

}  // namespace
}  // namespace treadle
