// Cooperative grids, launch limits, schedules.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/simt/kernels.h"
#include "tests/simt/settings.h"

namespace treadle::simt {
namespace {

void expect_error(void (*launch)(stream_t), const char* part) {
  try {
    launch(nullptr);
    FAIL() << "no error";
  } catch (const DeviceError& error) {
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

#if defined(__SANITIZE_THREAD__)
constexpr int kManyBlocks = 33;  // ThreadSanitizer knows 8,128 threads and fibers
#else
constexpr int kManyBlocks = 132;
#endif

TEST(Grids, BlocksMeetAndKeepTheirSharedMemory) {
  for (int blocks : {1, 2, kManyBlocks}) {
    const int threads = 64, n = blocks * threads;
    std::vector<float> x(n), y(n), z(n);
    for (int i = 0; i < n; ++i) x[i] = static_cast<float>(i * 37 % 1009);
    reverse_through_grid(nullptr, x.data(), y.data(), z.data(), blocks, threads);
    for (int i = 0; i < n; ++i) {
      const int within = i / threads * threads + threads - 1 - i % threads;
      ASSERT_EQ(z[i], x[n - 1 - i] + 1.f + x[within]) << i;
      ASSERT_EQ(y[n - 1 - i], z[i]);
    }
  }
}

TEST(Grids, GridSyncNeedsACooperativeLaunch) {
  expect_error(grid_sync_without_cooperation, "launch_cooperative");
}

TEST(Grids, BlockThatEndsWhileOthersWaitIsADeadlock) {
  expect_error(half_the_blocks_sync, "another block has ended");
}

TEST(Grids, ImpossibleConfigurationsAreRefused) {
  EXPECT_THROW(repeated_barriers(nullptr, 1025, 1), DeviceError);
  EXPECT_THROW(repeated_barriers(nullptr, 0, 1), DeviceError);
  EXPECT_THROW(thread_coordinates(nullptr, dim3(1, 65536), dim3(1), nullptr), DeviceError);
  EXPECT_THROW(thread_coordinates(nullptr, dim3(1), dim3(1, 1, 65), nullptr), DeviceError);
}

/// A product and a sum under one schedule.
std::vector<float> results_under(unsigned worker_count, Schedule order) {
  const ScopedSettings settings(worker_count, order);
  const int n = 96;
  std::vector<float> a(n * n), b(n * n), c(n * n + 1);
  for (int i = 0; i < n * n; ++i) {
    a[i] = 1.f / static_cast<float>(i + 1);
    b[i] = 1.f / static_cast<float>(i * 3 + 1);
  }
  matmul_tiled(nullptr, a.data(), b.data(), c.data(), n);
  block_sum_static(nullptr, a.data(), &c[n * n], n * n);
  return c;
}

TEST(Grids, ResultsDoNotDependOnScheduleOrWorkers) {
  const auto expected = results_under(1, {});
  for (unsigned worker_count : {1u, 2u, 4u})
    for (const Schedule order : {Schedule{}, Schedule{ScheduleOrder::reverse, 0},
                                 Schedule{ScheduleOrder::random, 1}, Schedule{ScheduleOrder::random, 2}})
      EXPECT_EQ(results_under(worker_count, order), expected);
}

TEST(Grids, SchedulesHaveNames) {
  EXPECT_EQ(parse_schedule("forward"), Schedule{});
  EXPECT_EQ(parse_schedule("reverse"), (Schedule{ScheduleOrder::reverse, 0}));
  EXPECT_EQ(parse_schedule("random:42"), (Schedule{ScheduleOrder::random, 42}));
  for (const char* text : {"", "backward", "random", "random:", "random:x"})
    EXPECT_THROW(parse_schedule(text), ValueError);
  EXPECT_THROW(set_workers(0), ValueError);
}

}  // namespace
}  // namespace treadle::simt
