#include "treadle/core/parallel_for.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "treadle/core/error.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace treadle {
namespace {

constexpr auto kSpinTime = std::chrono::microseconds(50);

void pause_briefly() {
#if defined(__x86_64__)
  _mm_pause();
#endif
}

/// Spins on `ready` for at most kSpinTime; says whether it became true.
template <class Ready>
bool spin_until(Ready ready) {
  auto deadline = std::chrono::steady_clock::now() + kSpinTime;
  for (int i = 0;; ++i) {
    if (ready()) return true;
    pause_briefly();
    if (i % 64 == 63 && std::chrono::steady_clock::now() > deadline) return ready();
  }
}

struct Job {
  detail::RangeFunction function;
  void* context;
  int64_t count;
  int parts;
};

/// Threads that wait each at a mailbox of its own, so that a region wakes only those it has a part for.
class Pool {
 public:
  explicit Pool(int threads) : mailboxes_(threads) {
    try {
      for (int i = 1; i < threads; ++i) workers_.emplace_back([this, i] { work(i); });
    } catch (const std::system_error& error) {
      stop();
      throw Error(fmt::format("{} threads cannot be started: {}; use fewer", threads, error.what()));
    }
  }
  ~Pool() { stop(); }

  int size() const { return int(mailboxes_.size()); }

  void run(const Job& job) {
    job_ = job;
    error_ = nullptr;
    remaining_.store(job.parts - 1, std::memory_order_relaxed);
    announce(job.parts);
    run_part(0);
    auto done = [&] { return remaining_.load(std::memory_order_acquire) == 0; };
    while (!spin_until(done)) std::this_thread::yield();
    if (error_) std::rethrow_exception(error_);
  }

 private:
  void stop() {
    stopping_ = true;
    announce(size());
    for (auto& worker : workers_) worker.join();
  }

  struct alignas(64) Mailbox {
    std::atomic<uint64_t> generation{0};
  };

  void announce(int parts) {
    for (int i = 1; i < parts; ++i) mailboxes_[i].generation.fetch_add(1, std::memory_order_seq_cst);
    if (parked_.load(std::memory_order_seq_cst) > 0) {
      { std::lock_guard lock(mutex_); }
      wake_.notify_all();
    }
  }

  void wait_for_mail(const Mailbox& mailbox, uint64_t seen) {
    auto changed = [&] { return mailbox.generation.load(std::memory_order_seq_cst) != seen; };
    if (spin_until(changed)) return;
    std::unique_lock lock(mutex_);
    parked_.fetch_add(1, std::memory_order_seq_cst);
    wake_.wait(lock, changed);
    parked_.fetch_sub(1, std::memory_order_seq_cst);
  }

  void work(int index) {
    for (uint64_t seen = 0;; ++seen) {
      wait_for_mail(mailboxes_[index], seen);
      if (stopping_) return;
      run_part(index);
      remaining_.fetch_sub(1, std::memory_order_acq_rel);
    }
  }

  void run_part(int index) {
    const Range part = Cut(job_.count, job_.parts)[index];
    try {
      job_.function(job_.context, part.begin, part.end);
    } catch (...) {
      std::lock_guard lock(mutex_);
      if (!error_) error_ = std::current_exception();
    }
  }

  std::vector<Mailbox> mailboxes_;
  std::vector<std::thread> workers_;
  Job job_{};
  std::exception_ptr error_;
  std::atomic<int> remaining_{0}, parked_{0};
  std::atomic<bool> stopping_{false};
  std::mutex mutex_;
  std::condition_variable wake_;
};

std::mutex pool_mutex;
std::unique_ptr<Pool>& pool() {
  static auto& instance = *new std::unique_ptr<Pool>;  // threads outlive static destructors
  return instance;
}
std::atomic<int> thread_count{0};
thread_local bool inside_parallel_for = false;

struct Inside {
  bool before = std::exchange(inside_parallel_for, true);
  ~Inside() { inside_parallel_for = before; }
};

}  // namespace

int num_threads() {
  static const int cores = std::max(1, int(std::thread::hardware_concurrency()));  // a system call
  int count = thread_count.load(std::memory_order_relaxed);
  return count ? count : cores;
}

void set_num_threads(int count) {
  require(!inside_parallel_for, "set_num_threads() was called inside parallel_for");
  std::lock_guard lock(pool_mutex);
  thread_count = std::clamp(count, 1, 1024);
  pool().reset();
}

namespace detail {

std::atomic<bool> finest_cuts{false};

void run_parallel(int64_t count, int64_t grain, RangeFunction function, void* context) {
  if (count <= 0) return;
  if (finest_cuts.load(std::memory_order_relaxed)) grain = 1;
  int64_t wanted = std::min<int64_t>(num_threads(), count / std::max<int64_t>(grain, 1));
  // A second caller, or a nested call, runs inline: the pool serves one region at a time.
  if (wanted <= 1 || inside_parallel_for || !pool_mutex.try_lock()) return function(context, 0, count);
  std::unique_lock lock(pool_mutex, std::adopt_lock);
  if (!pool()) pool() = std::make_unique<Pool>(num_threads());
  wanted = std::min<int64_t>(wanted, pool()->size());  // another thread may have changed it meanwhile
  if (wanted <= 1) {
    lock.unlock();  // the function may call parallel_for itself
    return function(context, 0, count);
  }
  struct Wrapped {
    RangeFunction function;
    void* context;
  } wrapped{function, context};
  auto guarded = [](void* w, int64_t begin, int64_t end) {
    Inside inside;
    static_cast<Wrapped*>(w)->function(static_cast<Wrapped*>(w)->context, begin, end);
  };
  pool()->run({guarded, &wrapped, count, int(wanted)});
}

}  // namespace detail
}  // namespace treadle
