/// parallel_for: every item once, nesting, exceptions, several callers.
#include "treadle/core/parallel_for.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

namespace treadle {
namespace {

class ParallelFor : public testing::Test {
 protected:
  void TearDown() override { set_num_threads(int(std::thread::hardware_concurrency())); }
};

TEST_F(ParallelFor, VisitsEveryItemOnce) {
  for (int threads : {1, 2, 3, 8}) {
    set_num_threads(threads);
    for (int64_t count : {0, 1, 2, 7, 1000}) {
      std::vector<std::atomic<int>> visits(size_t(count) + 1);
      for (int repeat = 0; repeat < 20; ++repeat)
        parallel_for(count, 1, [&](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i) ++visits[size_t(i)];
        });
      for (int64_t i = 0; i < count; ++i)
        ASSERT_EQ(visits[size_t(i)], 20) << threads << " threads, item " << i;
    }
  }
}

TEST_F(ParallelFor, RespectsTheGrain) {
  set_num_threads(4);
  std::atomic<int> ranges{0};
  parallel_for(100, 60, [&](int64_t, int64_t) { ++ranges; });
  EXPECT_EQ(ranges, 1);
}

TEST_F(ParallelFor, RunsNestedCallsInline) {
  set_num_threads(2);
  std::atomic<int64_t> sum{0};
  parallel_for(4, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      parallel_for(10, 1, [&](int64_t from, int64_t to) { sum += to - from; });
  });
  EXPECT_EQ(sum, 40);
}

TEST_F(ParallelFor, RethrowsAndStaysUsable) {
  set_num_threads(2);
  for (int64_t failing : {0, 9})
    EXPECT_THROW(parallel_for(10, 1,
                              [&](int64_t begin, int64_t end) {
                                if (begin <= failing && failing < end) throw std::runtime_error("failed");
                              }),
                 std::runtime_error);
  std::atomic<int64_t> sum{0};
  parallel_for(10, 1, [&](int64_t begin, int64_t end) { sum += end - begin; });
  EXPECT_EQ(sum, 10);
}

TEST_F(ParallelFor, ServesSeveralCallers) {
  set_num_threads(2);
  std::atomic<int64_t> sum{0};
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 3; ++caller)
    callers.emplace_back([&] {
      for (int i = 0; i < 500; ++i)
        parallel_for(8, 1, [&](int64_t begin, int64_t end) { sum += end - begin; });
    });
  for (auto& caller : callers) caller.join();
  EXPECT_EQ(sum, 3 * 500 * 8);
}

}  // namespace
}  // namespace treadle
