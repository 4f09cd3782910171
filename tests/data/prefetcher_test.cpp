/// Items made ahead on threads: their order, their bound, faults, and an end at any moment.
#include "treadle/data/prefetcher.h"

#include <gtest/gtest.h>

#include <atomic>

#include "treadle/core/affinity.h"

namespace treadle {
namespace {

/// Squares of 0, 1, 2, … by so many threads.
struct Squares {
  explicit Squares(int threads, int64_t ahead = 4, std::function<void(int64_t)> before = {})
      : items([this] { return planned++; },
              [this, before](int64_t job) {
                if (before) before(job);
                ++made;
                return job * job;
              },
              threads, ahead) {}

  int64_t planned = 0;  // plan() is called by one thread at a time
  std::atomic<int64_t> made{0};
  Prefetcher<int64_t, int64_t> items;
};

TEST(Prefetcher, GivesItemsInOrderForAnyNumberOfThreads) {
  for (int threads : {1, 2, 5})
    for (int64_t ahead : {1, 2, 7}) {
      Squares squares(threads, ahead);
      for (int64_t i = 0; i < 300; ++i) ASSERT_EQ(squares.items.next(), i * i) << threads << " threads";
    }
}

TEST(Prefetcher, MakesThemInOrderThoughTheFirstTakesLongest) {
  std::atomic<int64_t> others{0};
  Squares squares(3, 3, [&](int64_t job) {
    if (job == 0)
      while (others < 2) std::this_thread::yield();
    else
      ++others;
  });
  for (int64_t i = 0; i < 20; ++i) EXPECT_EQ(squares.items.next(), i * i);
}

TEST(Prefetcher, MakesNoMoreThanThereIsRoomFor) {
  for (int threads : {1, 3, 8}) {
    Squares squares(threads, 4);
    for (int64_t i = 0; i < 500; ++i) {
      squares.items.next();
      ASSERT_LE(squares.made, i + 1 + 4) << threads << " threads";
    }
    while (squares.made < 500 + 2) std::this_thread::yield();  // it goes on once half of the room is free
  }
}

TEST(Prefetcher, RethrowsAtTheItemThatFailedAndFromThenOn) {
  for (int threads : {1, 3}) {
    Squares squares(threads, 4, [](int64_t job) { require<ValueError>(job < 5, "item {} is bad", job); });
    for (int64_t i = 0; i < 5; ++i) EXPECT_EQ(squares.items.next(), i * i);
    for (int again = 0; again < 3; ++again) try {
        squares.items.next();
        FAIL() << "item 5 came with " << threads << " threads";
      } catch (const ValueError& error) {
        EXPECT_STREQ(error.what(), "item 5 is bad");
      }
  }
}

TEST(Prefetcher, RethrowsWhatPlanningThrew) {
  Prefetcher<int, int> items([]() -> int { throw ValueError("no plan"); }, [](int job) { return job; }, 2, 2);
  EXPECT_THROW(items.next(), ValueError);
}

TEST(Prefetcher, EndsWhileThreadsRestAndWhileTheyWork) {
  for (int round = 0; round < 50; ++round) {
    Squares squares(1 + round % 4, 1 + round % 3);
    for (int64_t i = 0; i < round % 7; ++i) squares.items.next();
  }
}

TEST(Prefetcher, ItsThreadsRunWhereverThereIsRoom) {
  const int id = detail::this_thread_id();
  ASSERT_TRUE(detail::bind_thread(id, usable_cores().front()));
  std::vector<int> cores;
  {
    Squares squares(1, 1, [&](int64_t) { cores = detail::cores_of_thread(detail::this_thread_id()); });
    squares.items.next();
  }
  EXPECT_EQ(cores, usable_cores());
  detail::unbind_thread(id);
}

TEST(Prefetcher, RefusesNumbersThatAreNone) {
  EXPECT_THROW(Squares(-1), ValueError);
  EXPECT_THROW(Squares(0), ValueError);
  EXPECT_THROW(Squares(1, 0), ValueError);
}

}  // namespace
}  // namespace treadle
