/// parallel_for: splits a range over a small pool of threads that spin briefly and then park. The pool has
/// one thread for each part, but never more than cores that the process may use; a part that its own thread
/// has not begun is taken by whoever is free.
#pragma once  // public

#include <atomic>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

#include "treadle/core/export.h"
#include "treadle/core/work.h"

namespace treadle {

/// Into how many parts work is cut: the threads of parallel_for, the caller included. The default is the
/// environment variable TREADLE_THREADS, else thread_limit(). Throws ValueError where the variable is not a
/// number from 1 to 1024.
TREADLE_API int num_threads();
/// Throws ValueError unless `count` is 1 to 1024, and Error inside parallel_for.
TREADLE_API void set_num_threads(int count);
/// What num_threads() is without set_num_threads(), and what decided: such as "2 cores", "TREADLE_THREADS".
struct DefaultThreads {
  int count;
  std::string reason;
};
TREADLE_API const DefaultThreads& default_threads();

/// Binds each thread of parallel_for, the caller included, to a core of its own, so that the scheduler cannot
/// put two of them on one core. Returns how many were bound. They are let go when set_num_threads() changes
/// the threads, and when others want the cores: a bound thread could not get out of their way.
TREADLE_API int bind_threads();

namespace detail {
using RangeFunction = void (*)(void* context, int64_t begin, int64_t end);
TREADLE_API void run_parallel(int64_t count, int64_t grain, RangeFunction function, void* context);

/// While one lives, regions of this thread run on at most so many threads, this one included: one part of the
/// range for each. What variants cut by num_threads() stays as it is. Of several the fewest count.
class TREADLE_API RegionThreads {
 public:
  explicit RegionThreads(int threads);
  ~RegionThreads();
  RegionThreads(const RegionThreads&) = delete;
  RegionThreads& operator=(const RegionThreads&) = delete;

 private:
  int before_;
};

/// How many regions of this thread more than one thread has run, so far.
TREADLE_API int64_t regions();

/// For tests: all work is worth a thread, however little it is, so that small cases are cut as large ones.
extern std::atomic<bool> finest_cuts;
}  // namespace detail

/// What work takes on one core: an estimate, for deciding how many threads it is worth.
struct Nanoseconds {
  double count;
};
/// Work that takes as long pays for a thread, which is woken and waited for.
inline constexpr Nanoseconds kWorthAThread{4096};

/// How many items are worth a thread, one at least, when each takes so long.
inline int64_t items_worth_a_thread(Nanoseconds each) {
  constexpr double kShortest = 1e-9;
  return std::max<int64_t>(int64_t(kWorthAThread.count / std::max(each.count, kShortest)), 1);
}

/// How many parts so many items are to be cut into: one for each thread, but none that is not worth a thread.
inline int64_t parts_worth(int64_t items, Nanoseconds each) {
  if (detail::finest_cuts.load(std::memory_order_relaxed)) return num_threads();
  return std::clamp<int64_t>(items / items_worth_a_thread(each), 1, num_threads());
}

/// Calls f(begin, end) on disjoint ranges that cover [0, count): one range per thread, each of at least
/// `grain` items, cut at the same places for the same count and thread number. Ranges are never empty. A
/// nested call, and one made while another thread is inside parallel_for, runs inline as one range: results
/// must not depend on the cuts. All compute in the caller's floating-point environment. The first exception
/// is rethrown.
template <class F>
void parallel_for(int64_t count, int64_t grain, F&& f) {
  using Function = std::remove_reference_t<F>;
  detail::run_parallel(
      count, grain,
      [](void* context, int64_t begin, int64_t end) { (*static_cast<Function*>(context))(begin, end); },
      const_cast<void*>(static_cast<const void*>(&f)));
}

/// The same where each item takes so long.
template <class F>
void parallel_for(int64_t count, Nanoseconds each, F&& f) {
  parallel_for(count, items_worth_a_thread(each), std::forward<F>(f));
}

/// Calls f(index, range) for each part of a cut, one on each thread, the same ones in every call. A cut into
/// more parts than threads leaves some threads several.
template <class F>
void parallel_for_parts(const Cut& cut, F&& f) {
  parallel_for(cut.parts(), 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) f(i, cut[i]);
  });
}

/// Calls f(thread, i) for each i of [0, count), on up to `threads` threads, numbered from 0: whoever is free
/// takes the next one. Of no more items than threads each has one, the same in every call, so that it finds
/// again what it left in its cache. For items of unequal work; results must not depend on who does what.
template <class F>
void parallel_for_each(int64_t count, int64_t threads, F&& f) {
  if (count <= threads)
    return parallel_for(count, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) f(i, i);
    });
  std::atomic<int64_t> next{0};
  parallel_for(threads, 1, [&](int64_t begin, int64_t end) {
    for (int64_t thread = begin; thread < end; ++thread)
      for (int64_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < count;) f(thread, i);
  });
}

}  // namespace treadle
