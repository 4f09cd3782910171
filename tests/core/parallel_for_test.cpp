/// parallel_for: every item once, nesting, exceptions, several callers, late threads.
#include "treadle/core/parallel_for.h"

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <stdexcept>
#include <thread>
#include <vector>

#include "treadle/core/affinity.h"
#include "treadle/core/error.h"

namespace treadle {
namespace {

class ParallelFor : public testing::Test {
 protected:
  void TearDown() override { set_num_threads(before_); }
  const int before_ = num_threads();
};

TEST_F(ParallelFor, VisitsEveryItemOnce) {
  for (int threads : {1, 2, 3, 8, 17, 64}) {
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

TEST_F(ParallelFor, GivesNoEmptyRange) {
  for (int threads : {2, 17, 1024}) {
    set_num_threads(threads);
    for (int64_t count : {1, 2, 5, 16, 18, 1000}) {
      std::atomic<int64_t> empty{0}, parts{0};
      parallel_for(count, 1, [&](int64_t begin, int64_t end) { empty += begin >= end; });
      parallel_for_parts(Cut(count, threads),
                         [&](int64_t, Range part) { ++parts, empty += part.size() <= 0; });
      EXPECT_EQ(empty, 0) << count << " items, " << threads << " threads";
      EXPECT_EQ(parts, std::min<int64_t>(count, threads));
    }
  }
}

TEST_F(ParallelFor, RefusesThreadNumbersOutOfRange) {
  for (int count : {0, -5, 1025}) {
    try {
      set_num_threads(count);
      FAIL() << count << " was taken";
    } catch (const ValueError& error) {
      EXPECT_NE(std::string(error.what()).find(std::to_string(count)), std::string::npos) << error.what();
      EXPECT_NE(std::string(error.what()).find("from 1 to 1024"), std::string::npos) << error.what();
    }
  }
  EXPECT_EQ(num_threads(), before_);
}

/// Fewer threads are fewer ranges, not other parts: what is cut by num_threads() is visited as before.
TEST_F(ParallelFor, RunsOnAsManyThreadsAsAScopeAllows) {
  if (usable_cores().size() < 2) GTEST_SKIP() << "on one core parts run one after another";
  set_num_threads(8);
  auto ranges = [] {
    std::atomic<int> count{0};
    parallel_for(100, 1, [&](int64_t, int64_t) { ++count; });
    return count.load();
  };
  const int64_t before = detail::regions();
  EXPECT_EQ(ranges(), 8);
  EXPECT_EQ(detail::regions(), before + 1);
  {
    const detail::RegionThreads three(3);
    EXPECT_EQ(ranges(), 3);
    EXPECT_EQ(num_threads(), 8);
    std::atomic<int> parts{0};
    parallel_for_parts(Cut(100, num_threads()), [&](int64_t, Range) { ++parts; });
    EXPECT_EQ(parts, 8);
    {
      const detail::RegionThreads one(1), five(5);
      EXPECT_EQ(ranges(), 1);
    }
    EXPECT_EQ(ranges(), 3);
    std::thread([&] { EXPECT_EQ(ranges(), 8) << "the scope is another thread's"; }).join();
    EXPECT_EQ(detail::regions(), before + 4) << "one range is no region, another thread has its own";
  }
  EXPECT_EQ(ranges(), 8);
}

/// A part ends only when all others have ended: if each waited for a thread of its own, they never would.
TEST_F(ParallelFor, PartsOfALateThreadAreDoneByOthers) {
  if (usable_cores().size() < 2) GTEST_SKIP() << "on one core parts run one after another";
  constexpr int kParts = 64;
  set_num_threads(kParts);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  for (int repeat = 0; repeat < 100; ++repeat) {
    const int late = repeat % 4;  // 0 is the caller's
    std::atomic<int> others{0};
    parallel_for(kParts, 1, [&](int64_t begin, int64_t) {
      if (begin != late) {
        ++others;
        return;
      }
      while (others < kParts - 1 && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
    });
    ASSERT_EQ(others, kParts - 1);
    ASSERT_LT(std::chrono::steady_clock::now(), deadline);
  }
}

std::atomic<bool> held{false}, let_go{false};
void hold(int) {
  held = true;
  while (!let_go) {
  }
}

/// A thread of the pool other than the caller.
int other_thread() {
  std::atomic<int> other{0};
  while (other == 0)
    parallel_for(2, 1, [&](int64_t, int64_t) {
      if (const int id = detail::this_thread_id(); id != getpid()) other = id;
      std::this_thread::yield();
    });
  return other;
}

/// A thread that does not get to run is held by a signal here; at last it is let go for the test to end.
TEST_F(ParallelFor, TheCallerDoesThePartOfAThreadThatDoesNotRun) {
  if (usable_cores().size() < 2) GTEST_SKIP() << "on one core there is no other thread";
  set_num_threads(2);
  const int caller = detail::this_thread_id(), other = other_thread();
  auto* const before = std::signal(SIGUSR1, hold);
  syscall(SYS_tgkill, getpid(), other, SIGUSR1);
  while (!held) std::this_thread::yield();
  std::thread release([] {
    for (int i = 0; i < 3000 && !let_go; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    let_go = true;
  });
  std::atomic<int> by_caller{0};
  parallel_for(2, 1, [&](int64_t, int64_t) { by_caller += detail::this_thread_id() == caller; });
  EXPECT_FALSE(let_go);
  EXPECT_EQ(by_caller, 2);
  let_go = true;
  release.join();
  std::signal(SIGUSR1, before);
}

TEST_F(ParallelFor, BoundThreadsAreLetGoWhenOthersWantTheirCores) {
  const int id = detail::this_thread_id();
  const auto cores = usable_cores();
  if (cores.size() < 2 || detail::waited_for_core(id) < 0) GTEST_SKIP() << "no cores, or no word of waiting";
  set_num_threads(int(cores.size()));
  std::atomic<bool> stop{false};
  std::thread other([&] {
    detail::bind_thread(detail::this_thread_id(), cores[0]);
    while (!stop) {
    }
  });
  ASSERT_EQ(bind_threads(), int(cores.size()));
  EXPECT_EQ(detail::cores_of_thread(id), std::vector<int>{cores[0]});
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  std::atomic<int64_t> sum{0};
  while (detail::cores_of_thread(id) != cores && std::chrono::steady_clock::now() < deadline)
    parallel_for(1000, 1, [&](int64_t begin, int64_t end) { sum += end - begin; });
  stop = true;
  other.join();
  EXPECT_EQ(detail::cores_of_thread(id), cores);
}

TEST_F(ParallelFor, ThreadsMadeByABoundThreadAreNotBound) {
  const auto cores = usable_cores();
  if (cores.size() < 2) GTEST_SKIP() << "one core";
  set_num_threads(int(cores.size()));
  ASSERT_EQ(bind_threads(), int(cores.size()));
  set_num_threads(1);  // another pool, or none
  EXPECT_EQ(detail::cores_of_thread(detail::this_thread_id()), cores);
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
