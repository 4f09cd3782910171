/// A stack of its own for a thread's signal handlers.
#pragma once

#include <signal.h>
#include <sys/mman.h>

#include <cstddef>

namespace treadle {

/// While one lives, handlers that its thread runs with SA_ONSTACK have a stack of their own: this one, or one
/// that the thread had before. Without, the system writes 1 to 11 KiB below the stack pointer of whatever was
/// interrupted. A fiber's stack may have no room for them, and some code of others points the stack pointer
/// at memory that is no stack. Where memory is out, handlers stay where they were.
class SignalStack {
 public:
  SignalStack() {
    stack_t before{};
    if (sigaltstack(nullptr, &before) != 0 || (before.ss_flags & SS_DISABLE) == 0) return;
    void* memory =
        mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return;
    stack_t own{};
    own.ss_sp = memory;
    own.ss_size = kBytes;
    if (sigaltstack(&own, nullptr) == 0)
      memory_ = memory;
    else
      munmap(memory, kBytes);
  }
  ~SignalStack() {
    if (memory_ == nullptr) return;
    stack_t now{}, none{};
    none.ss_flags = SS_DISABLE;
    if (sigaltstack(nullptr, &now) == 0 && now.ss_sp == memory_) sigaltstack(&none, nullptr);
    munmap(memory_, kBytes);
  }
  SignalStack(const SignalStack&) = delete;
  SignalStack& operator=(const SignalStack&) = delete;

 private:
  static constexpr size_t kBytes = 64 * 1024;
  void* memory_ = nullptr;
};

}  // namespace treadle
