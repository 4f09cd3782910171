/// Fibers: stacks with guard pages, and the switch from one saved stack pointer to another.
#pragma once

#include <cstddef>
#include <cstdint>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#elif defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif
#if !defined(__x86_64__) && !defined(__aarch64__)
#define TREADLE_SIMT_UCONTEXT 1
#endif
#if defined(TREADLE_SIMT_UCONTEXT)
#include <ucontext.h>
#endif

namespace treadle::simt {

/// The usable bytes of a stack, and how many below them fault.
struct FiberStack {
  char* base = nullptr;
  uint32_t size = 0, guard = 0;
};

/// Takes a stack from the process-wide store, or makes one. Throws DeviceError when memory is out.
FiberStack take_fiber_stack();
void give_back_fiber_stack(FiberStack stack);

/// A suspended thread of control.
struct FiberContext {
#if defined(TREADLE_SIMT_UCONTEXT)
  ucontext_t state;
  uint64_t received = 0;
#else
  void* stack_pointer = nullptr;
#endif
#if defined(__SANITIZE_ADDRESS__)
  FiberStack stack;
  void* fake_stack = nullptr;
#elif defined(__SANITIZE_THREAD__)
  void* history = nullptr;                ///< what ThreadSanitizer takes for a thread
#endif
};

/// Makes `context` start `entry` on `stack`, `offset` bytes below its end. `entry` must not return.
void prepare_fiber(FiberContext& context, FiberStack stack, size_t offset, void (*entry)());

/// Forgets a fiber that is not running and will not be resumed.
inline void end_fiber([[maybe_unused]] FiberContext& context) {
#if defined(__SANITIZE_THREAD__)
  __tsan_destroy_fiber(context.history);
#endif
}

/// Describes the calling thread's own stack, before it switches to its first fiber.
void prepare_thread(FiberContext& context);

extern "C" uint64_t treadle_simt_switch_stack(void** save, void* load, uint64_t value);

/// Suspends the running code in `from` and resumes `to`, whose own call of switch_fiber returns `value`.
inline uint64_t switch_fiber(FiberContext& from, FiberContext& to, uint64_t value) {
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_start_switch_fiber(&from.fake_stack, to.stack.base, to.stack.size);
#elif defined(__SANITIZE_THREAD__)
  __tsan_switch_to_fiber(to.history, 0);  // what ran before the switch happened before what runs after it
#endif
#if defined(TREADLE_SIMT_UCONTEXT)
  to.received = value;
  swapcontext(&from.state, &to.state);
  const uint64_t received = from.received;
#elif defined(__SANITIZE_ADDRESS__)
  const uint64_t received = treadle_simt_switch_stack(&from.stack_pointer, to.stack_pointer, value);
#else
  return treadle_simt_switch_stack(&from.stack_pointer, to.stack_pointer,
                                   value);  // a tail call: no frame stays behind
#endif
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(from.fake_stack, nullptr, nullptr);
#endif
#if defined(TREADLE_SIMT_UCONTEXT) || defined(__SANITIZE_ADDRESS__)
  return received;
#endif
}

/// The first thing `entry` does.
inline void finish_first_switch() {
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(nullptr, nullptr, nullptr);
#endif
}

}  // namespace treadle::simt
