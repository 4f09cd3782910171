#include "treadle/core/parallel_for.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "treadle/core/affinity.h"
#include "treadle/core/error.h"
#include "treadle/core/floating_point.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace treadle {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int kMostThreads = 1024;
constexpr auto kSpinTime = std::chrono::microseconds(50);
constexpr auto kPatience = std::chrono::microseconds(2);  ///< before the caller does the work of late threads

void pause_briefly() {
#if defined(__x86_64__)
  _mm_pause();
#endif
}

/// Spins on `ready` for at most so long; says whether it became true.
template <class Ready>
bool spin_until(Ready ready, Clock::duration time) {
  auto deadline = Clock::now() + time;
  for (int i = 0;; ++i) {
    if (ready()) return true;
    pause_briefly();
    if (i % 64 == 63 && Clock::now() > deadline) return ready();
  }
}

struct Job {
  detail::RangeFunction function;
  void* context;
  int64_t count;
  int parts;
  FloatingPointState floating_point;  ///< the caller's: every part computes in it
};

/// Binds the pool's threads to cores, and lets them go when one of them often waits for its core: then
/// another process runs there, and only a free thread can move to where there is room.
class Binding {
 public:
  int bind(const std::vector<int>& threads) {
    release();
    for (size_t i = 0; i < threads.size(); ++i)
      if (detail::bind_thread(threads[i], usable_cores()[i % usable_cores().size()]))
        bound_.push_back({threads[i], 0});
    waited_since_last_time();
    last_ = Clock::now();
    return int(bound_.size());
  }

  /// Called in every region; looks at the clock now and then.
  void watch() {
    constexpr int kRegions = 64;
    constexpr auto kIntervalPerThread = std::chrono::milliseconds(50);
    constexpr int kTolerated = 10;  ///< of an interval, one part in so many
    if (bound_.empty() || ++regions_ % kRegions != 0) return;
    const auto elapsed = Clock::now() - last_;
    if (elapsed < kIntervalPerThread * bound_.size()) return;
    last_ += elapsed;
    if (waited_since_last_time() > elapsed / kTolerated) release();
  }

  void release() {
    for (const Bound& bound : bound_) detail::unbind_thread(bound.thread);
    bound_.clear();
  }

 private:
  struct Bound {
    int thread;
    long long waited;  ///< for its core, in nanoseconds, so far
  };

  /// The longest wait of all threads.
  std::chrono::nanoseconds waited_since_last_time() {
    long long longest = 0;
    for (Bound& bound : bound_) {
      const long long waited = detail::waited_for_core(bound.thread);
      longest = std::max(longest, waited - std::exchange(bound.waited, waited));
    }
    return std::chrono::nanoseconds(longest);
  }

  std::vector<Bound> bound_;
  Clock::time_point last_;
  int regions_ = 0;
};

/// Threads that wait each at a slot of its own, so that a region wakes only those it has a part for.
class Pool {
 public:
  explicit Pool(int threads) : threads_(threads), slots_(std::make_unique<Slot[]>(kMostThreads)) {
    try {
      for (int i = 1; i < threads; ++i) workers_.emplace_back([this, i] { work(i); });
    } catch (const std::system_error& error) {
      stop();
      throw Error(fmt::format("{} threads cannot be started: {}; use fewer", threads, error.what()));
    }
  }
  ~Pool() { stop(); }

  int size() const { return threads_; }

  void run(const Job& job) {
    job_ = job;
    error_ = nullptr;
    open_parts();
    take_parts(0);
    if (!spin_until([&] { return all_done(); }, kPatience)) finish_region();
    binding_.watch();
    if (error_) std::rethrow_exception(error_);
  }

  int bind() {
    std::vector<int> ids{detail::this_thread_id()};
    for (int i = 1; i < threads_; ++i) {
      slots_[i].id.wait(0);
      ids.push_back(slots_[i].id);
    }
    return binding_.bind(ids);
  }

 private:
  /// A part, and what the thread of the same number waits at: one cache line. `part` is twice the region's
  /// number while the part is free, and one more when somebody has taken it.
  struct alignas(64) Slot {
    std::atomic<uint64_t> part{1};
    std::atomic<uint32_t> bell{0};
    std::atomic<bool> parked{false};
    std::atomic<int> id{0};
  };

  void stop() {
    binding_.release();
    stopping_ = true;
    for (size_t i = 1; i <= workers_.size(); ++i) ring(slots_[i]);
    for (auto& worker : workers_) worker.join();
  }

  // ---- the caller

  /// Thread i is to take part i and those that come a multiple of the threads behind.
  void open_parts() {
    ++region_;
    remaining_.store(job_.parts, std::memory_order_relaxed);
    parts_.store(job_.parts, std::memory_order_relaxed);
    for (int i = job_.parts - 1; i >= 0; --i) {
      slots_[i].part.store(2 * region_, std::memory_order_release);
      if (i > 0 && i < threads_) ring(slots_[i]);
    }
  }

  bool all_done() const { return remaining_.load(std::memory_order_acquire) == 0; }

  /// Takes the parts of threads that are late, then waits for those that have begun.
  void finish_region() {
    for (int i = 1; i < job_.parts; ++i) take(i);
    if (spin_until([&] { return all_done(); }, kSpinTime)) return;
    caller_parked_.store(true, std::memory_order_seq_cst);
    for (int left; (left = remaining_.load(std::memory_order_seq_cst)) != 0;)
      remaining_.wait(left, std::memory_order_seq_cst);
    caller_parked_.store(false, std::memory_order_relaxed);
  }

  // ---- the other threads

  void work(int thread) {
    Slot& slot = slots_[thread];
    slot.id = detail::this_thread_id();
    slot.id.notify_one();
    for (uint32_t heard = 0;;) {
      heard = wait_for_bell(slot, heard);
      if (stopping_) return;
      take_parts(thread);
    }
  }

  /// `parked` and `bell` are written and read in opposite order by the two sides, so that no ring is missed.
  static void ring(Slot& slot) {
    slot.bell.fetch_add(1, std::memory_order_seq_cst);
    if (slot.parked.load(std::memory_order_seq_cst)) slot.bell.notify_one();
  }

  static uint32_t wait_for_bell(Slot& slot, uint32_t heard) {
    const auto rung = [&] { return slot.bell.load(std::memory_order_acquire) != heard; };
    if (!spin_until(rung, kSpinTime)) {
      slot.parked.store(true, std::memory_order_seq_cst);
      slot.bell.wait(heard, std::memory_order_seq_cst);
      slot.parked.store(false, std::memory_order_relaxed);
    }
    return slot.bell.load(std::memory_order_acquire);
  }

  // ---- all threads

  /// Its own parts and, where there are more parts than threads, those of others too.
  void take_parts(int thread) {
    const int parts = parts_.load(std::memory_order_relaxed);
    for (int i = thread; i < parts; i += threads_) take(i);
    if (parts > threads_)
      for (int i = 0; i < parts; ++i) take(i);
  }

  /// Runs a part unless somebody has taken it. Whoever takes one keeps the region, and with it the job, from
  /// ending.
  void take(int index) {
    uint64_t state = slots_[index].part.load(std::memory_order_relaxed);
    if (state % 2 == 1 || !slots_[index].part.compare_exchange_strong(state, state + 1)) return;
    job_.floating_point.apply();
    run_part(index);
    if (remaining_.fetch_sub(1, std::memory_order_seq_cst) == 1 &&
        caller_parked_.load(std::memory_order_seq_cst))
      remaining_.notify_one();
  }

  void run_part(int index) {
    const Range part = Cut(job_.count, job_.parts)[index];
    try {
      job_.function(job_.context, part.begin, part.end);
    } catch (...) {
      std::lock_guard lock(error_mutex_);
      if (!error_) error_ = std::current_exception();
    }
  }

  const int threads_;
  const std::unique_ptr<Slot[]> slots_;
  std::vector<std::thread> workers_;
  Binding binding_;
  Job job_{};
  uint64_t region_ = 0;
  std::exception_ptr error_;
  std::mutex error_mutex_;
  std::atomic<int> remaining_{0}, parts_{0};  ///< of the region: those not yet done, and all
  std::atomic<bool> caller_parked_{false}, stopping_{false};
};

std::mutex pool_mutex;
std::unique_ptr<Pool>& pool() {
  static auto& instance = *new std::unique_ptr<Pool>;  // threads outlive static destructors
  return instance;
}
std::atomic<int> thread_count{0};
thread_local bool inside_parallel_for = false;
thread_local int most_threads = kMostThreads;
thread_local int64_t regions_so_far = 0;

struct Inside {
  bool before = std::exchange(inside_parallel_for, true);
  ~Inside() { inside_parallel_for = before; }
};

/// Threads beyond the cores could only take turns.
int pool_size() { return std::min(num_threads(), int(usable_cores().size())); }

Pool& existing_pool() {
  if (!pool()) pool() = std::make_unique<Pool>(pool_size());
  return *pool();
}

DefaultThreads find_default_threads() {
  const char* text = std::getenv("TREADLE_THREADS");
  if (!text || !*text) return {std::min(thread_limit().threads, kMostThreads), thread_limit().reason};
  const std::string number = text;
  const bool digits = number.find_first_not_of("0123456789") == std::string::npos;
  const int count = digits && !number.empty() && number.size() <= 4 ? std::atoi(text) : 0;
  require<ValueError>(count >= 1 && count <= kMostThreads,
                      "TREADLE_THREADS is \"{}\"; it takes a number of threads from 1 to {}", text,
                      kMostThreads);
  return {count, "TREADLE_THREADS"};
}

}  // namespace

const DefaultThreads& default_threads() {
  static const auto& found = *new DefaultThreads(find_default_threads());
  return found;
}

int num_threads() {
  int count = thread_count.load(std::memory_order_relaxed);
  return count ? count : default_threads().count;
}

void set_num_threads(int count) {
  require<ValueError>(count >= 1 && count <= kMostThreads,
                      "set_num_threads({}): the number of threads must be from 1 to {}", count, kMostThreads);
  require(!inside_parallel_for, "set_num_threads() was called inside parallel_for");
  std::lock_guard lock(pool_mutex);
  thread_count = count;
  if (pool() && pool()->size() != pool_size()) pool().reset();
}

int bind_threads() {
  require(!inside_parallel_for, "bind_threads() was called inside parallel_for");
  std::lock_guard lock(pool_mutex);
  return existing_pool().bind();
}

namespace detail {

std::atomic<bool> finest_cuts{false};

RegionThreads::RegionThreads(int threads) : before_(most_threads) {
  most_threads = std::min(most_threads, threads);
}
RegionThreads::~RegionThreads() { most_threads = before_; }
int64_t regions() { return regions_so_far; }

void run_parallel(int64_t count, int64_t grain, RangeFunction function, void* context) {
  if (count <= 0) return;
  if (finest_cuts.load(std::memory_order_relaxed)) grain = 1;
  int64_t wanted =
      std::min<int64_t>(std::min(num_threads(), most_threads), count / std::max<int64_t>(grain, 1));
  // A second caller, or a nested call, runs inline: the pool serves one region at a time.
  if (wanted <= 1 || inside_parallel_for || pool_size() <= 1 || !pool_mutex.try_lock())
    return function(context, 0, count);
  std::lock_guard lock(pool_mutex, std::adopt_lock);
  ++regions_so_far;
  struct Wrapped {
    RangeFunction function;
    void* context;
  } wrapped{function, context};
  auto guarded = [](void* w, int64_t begin, int64_t end) {
    Inside inside;
    static_cast<Wrapped*>(w)->function(static_cast<Wrapped*>(w)->context, begin, end);
  };
  existing_pool().run({guarded, &wrapped, count, int(wanted), FloatingPointState::current()});
}

}  // namespace detail
}  // namespace treadle
