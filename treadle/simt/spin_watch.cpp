#include "treadle/simt/spin_watch.h"

#include <link.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>
#include <utility>

#include "treadle/simt/block_executor.h"

// ThreadSanitizer holds signals back until the thread makes a call, which is not when they are needed.
#if defined(__linux__) && (defined(__x86_64__) || defined(__aarch64__)) && !defined(__SANITIZE_THREAD__)
#define TREADLE_SIMT_SPIN_WATCH 1
#endif
#if !defined(sigev_notify_thread_id)
#define sigev_notify_thread_id _sigev_un._tid
#endif

namespace treadle::TREADLE_TARGET {
namespace {

constexpr long kRegular = 10'000'000, kSoon = 60'000;  // nanoseconds

int find_text(dl_phdr_info* object, size_t, void* found) {
  auto& [address, range] = *static_cast<std::pair<uintptr_t, TextRange>*>(found);
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const auto& segment = object->dlpi_phdr[i];
    const uintptr_t begin = object->dlpi_addr + segment.p_vaddr;
    const TextRange text{begin, begin + segment.p_memsz};
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0 || !text.contains(address)) continue;
    range = text;
    return 1;
  }
  return 0;
}

}  // namespace

TextRange text_around(const void* function) {
  std::pair<uintptr_t, TextRange> found{reinterpret_cast<uintptr_t>(function), {}};
  dl_iterate_phdr(find_text, &found);
  return found.second;
}

#if defined(TREADLE_SIMT_SPIN_WATCH)

namespace {

constexpr int kOnFiber = SIGWINCH;

struct sigaction before_timer, before_on_fiber;

/// Calls whoever had the signal before.
void pass_on(const struct sigaction& action, int signal, siginfo_t* info, void* state) {
  if ((action.sa_flags & SA_SIGINFO) != 0)
    action.sa_sigaction(signal, info, state);
  else if (action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN)
    action.sa_handler(signal);
}

uint64_t mix(uint64_t hash, uint64_t word) { return (hash ^ word) * 0x9e3779b97f4a7c15u; }

Interrupted interrupted(const ucontext_t& state) {
  Interrupted sample;
#if defined(__x86_64__)
  const auto& registers = state.uc_mcontext.gregs;
  sample.instruction = static_cast<uintptr_t>(registers[REG_RIP]);
  sample.stack = static_cast<uintptr_t>(registers[REG_RSP]);
  uint64_t hash = 1;
  for (int i = 0; i <= REG_EFL; ++i) hash = mix(hash, static_cast<uint64_t>(registers[i]));
  if (state.uc_mcontext.fpregs != nullptr)
    for (const auto& number : state.uc_mcontext.fpregs->_xmm)
      for (const auto word : number.element) hash = mix(hash, word);
  sample.registers = hash | 1;
#else
  sample.instruction = state.uc_mcontext.pc;
  sample.stack = state.uc_mcontext.sp;
#endif
  timespec used{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  sample.nanoseconds =
      static_cast<uint64_t>(used.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(used.tv_nsec);
  return sample;
}

bool make_timer(clockid_t clock, SpinWatch* watch, timer_t& timer) {
  sigevent event{};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = SIGURG;
  event.sigev_value.sival_ptr = watch;
  event.sigev_notify_thread_id = static_cast<pid_t>(syscall(SYS_gettid));
  return timer_create(clock, &event, &timer) == 0;
}

void set_timer(timer_t timer, long first, long interval) {
  const itimerspec when{{0, interval}, {0, first}};
  timer_settime(timer, 0, &when, nullptr);
}

}  // namespace

void SpinWatch::handle_timer(int signal, siginfo_t* info, void* state) {
  const int error = errno;
  auto* executor = running_executor;
  const bool own = info->si_code == SI_TIMER && info->si_value.sival_ptr != nullptr;
  if (own && executor != nullptr && &executor->spin_watch() == info->si_value.sival_ptr) {
    const Interrupted where = interrupted(*static_cast<ucontext_t*>(state));
    if (executor->may_switch_at(where))
      pthread_sigqueue(pthread_self(), kOnFiber, info->si_value);
    else
      executor->tick(where);
  } else if (own && executor == nullptr) {
    // No grid runs: nothing is told until the next begins.
    auto* watch = static_cast<SpinWatch*>(info->si_value.sival_ptr);
    watch->started_ = false;
    if (watch->exist_) set_timer(watch->regular_, 0, 0);
  } else {
    pass_on(before_timer, signal, info, state);
  }
  errno = error;
}

void SpinWatch::handle_on_fiber(int signal, siginfo_t* info, void* state) {
  const int error = errno;
  auto* executor = running_executor;
  if (executor != nullptr && info->si_code == SI_QUEUE &&
      &executor->spin_watch() == info->si_value.sival_ptr) {
    executor->tick(interrupted(*static_cast<ucontext_t*>(state)));
  } else {
    pass_on(before_on_fiber, signal, info, state);
  }
  errno = error;
}

void SpinWatch::install_handlers() {
  static const bool installed = [] {
    struct sigaction timer {
    }, on_fiber{};
    timer.sa_sigaction = handle_timer;
    timer.sa_flags = SA_SIGINFO | SA_RESTART | SA_NODEFER | SA_ONSTACK;
    sigaddset(&timer.sa_mask, kOnFiber);  // comes when the handler has returned, where it was interrupted
    on_fiber.sa_sigaction = handle_on_fiber;
    on_fiber.sa_flags = SA_SIGINFO | SA_RESTART | SA_NODEFER;  // the handler may be left by a switch
    return sigaction(SIGURG, &timer, &before_timer) == 0 &&
           sigaction(kOnFiber, &on_fiber, &before_on_fiber) == 0;
  }();
  static_cast<void>(installed);
}

SpinWatch::SpinWatch() {
  install_handlers();
  if (!make_timer(CLOCK_THREAD_CPUTIME_ID, this, regular_)) return;
  exist_ = make_timer(CLOCK_MONOTONIC, this, soon_);
  if (!exist_) timer_delete(regular_);
}

SpinWatch::~SpinWatch() {
  if (!exist_) return;
  exist_ = false;
  timer_delete(regular_);
  timer_delete(soon_);
}

void SpinWatch::start_timer() {
  started_ = true;
  if (exist_) set_timer(regular_, kRegular, kRegular);
}

void SpinWatch::hurry() {
  if (exist_) set_timer(soon_, kSoon, 0);
}

#else

SpinWatch::SpinWatch() = default;
SpinWatch::~SpinWatch() = default;
void SpinWatch::start_timer() {}
void SpinWatch::hurry() {}

#endif

}  // namespace treadle::TREADLE_TARGET
