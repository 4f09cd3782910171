#include "treadle/simt/fiber.h"

#include <pthread.h>
#include <sys/mman.h>

#include <algorithm>
#include <mutex>
#include <vector>

#include "treadle/core/error.h"

#if defined(TREADLE_SIMT_UCONTEXT)
#elif defined(__x86_64__)
// Saves the registers that a callee must keep, System V ABI. Kernels do not change the floating-point control
// words.
asm(R"(
.text
.hidden treadle_simt_switch_stack
.globl treadle_simt_switch_stack
.type treadle_simt_switch_stack, @function
treadle_simt_switch_stack:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rdx, %rax
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size treadle_simt_switch_stack, . - treadle_simt_switch_stack
)");
#elif defined(__aarch64__)
// Saves x19 to x30 and d8 to d15, AAPCS64.
asm(R"(
.text
.hidden treadle_simt_switch_stack
.globl treadle_simt_switch_stack
.type treadle_simt_switch_stack, %function
treadle_simt_switch_stack:
  sub sp, sp, #160
  stp x19, x20, [sp, #0]
  stp x21, x22, [sp, #16]
  stp x23, x24, [sp, #32]
  stp x25, x26, [sp, #48]
  stp x27, x28, [sp, #64]
  stp x29, x30, [sp, #80]
  stp d8, d9, [sp, #96]
  stp d10, d11, [sp, #112]
  stp d12, d13, [sp, #128]
  stp d14, d15, [sp, #144]
  mov x9, sp
  str x9, [x0]
  mov x0, x2
  mov sp, x1
  ldp x19, x20, [sp, #0]
  ldp x21, x22, [sp, #16]
  ldp x23, x24, [sp, #32]
  ldp x25, x26, [sp, #48]
  ldp x27, x28, [sp, #64]
  ldp x29, x30, [sp, #80]
  ldp d8, d9, [sp, #96]
  ldp d10, d11, [sp, #112]
  ldp d12, d13, [sp, #128]
  ldp d14, d15, [sp, #144]
  add sp, sp, #160
  ret
.size treadle_simt_switch_stack, . - treadle_simt_switch_stack
)");
#endif

namespace treadle::simt {
namespace {

/// Where sanitizers need room of their own for each byte, less.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr uint32_t kStackBytes = 256 * 1024, kGuardBytes = 64 * 1024;
#else
/// CUDA's 512 KB of local memory, and room for what the host needs beside; only what is touched takes memory.
/// An odd number of pages in all, and not too many: else those that are touched fall into the same few sets
/// of the processor's tables of pages, and a switch takes up to a third longer.
constexpr uint32_t kStackBytes = (512 + 64) * 1024, kGuardBytes = (128 + 4) * 1024;
#endif
/// Where the system gives no more.
constexpr uint32_t kSmallStackBytes = 64 * 1024, kSmallGuardBytes = 64 * 1024;

class StackStore {
 public:
  FiberStack take() {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) return make();
    const FiberStack stack = free_.back();
    free_.pop_back();
    return stack;
  }

  void give_back(FiberStack stack) {
    const std::lock_guard lock(mutex_);
    free_.push_back(stack);
  }

 private:
  static FiberStack make() {
    FiberStack stack = make(kStackBytes, kGuardBytes);
    if (stack.base == nullptr) stack = make(kSmallStackBytes, kSmallGuardBytes);
    require<DeviceError>(stack.base != nullptr, "simt: no memory for the stack of a thread");
    return stack;
  }

  /// Each guarded stack counts as two mappings, of which a process has about 65,000: beyond them stacks go
  /// unguarded.
  static FiberStack make(uint32_t bytes, uint32_t guard) {
    void* memory = mmap(nullptr, size_t{guard} + bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (memory == MAP_FAILED) return {};
    static_cast<void>(mprotect(memory, guard, PROT_NONE));
    return {static_cast<char*>(memory) + guard, bytes, guard};
  }

  std::mutex mutex_;
  std::vector<FiberStack> free_;
};

/// Never destroyed: worker threads may end after static objects.
StackStore& stack_store() {
  static StackStore* store = new StackStore;
  return *store;
}

}  // namespace

FiberStack take_fiber_stack() { return stack_store().take(); }

void give_back_fiber_stack(FiberStack stack) { stack_store().give_back(stack); }

void prepare_fiber(FiberContext& context, FiberStack stack, size_t offset, void (*entry)()) {
#if defined(__SANITIZE_ADDRESS__)
  context.stack = stack;
  __asan_unpoison_memory_region(stack.base, stack.size);
#elif defined(__SANITIZE_THREAD__)
  context.history = __tsan_create_fiber(0);
#endif
#if defined(TREADLE_SIMT_UCONTEXT)
  getcontext(&context.state);
  context.state.uc_stack.ss_sp = stack.base;
  context.state.uc_stack.ss_size = stack.size - offset;
  context.state.uc_link = nullptr;
  makecontext(&context.state, entry, 0);
#elif defined(__x86_64__)
  // Six registers, the address to return to, and a null return address for `entry`, which ends backtraces.
  void** top = reinterpret_cast<void**>(stack.base + stack.size - offset) - 8;
  for (int i = 0; i < 8; ++i) top[i] = nullptr;
  top[6] = reinterpret_cast<void*>(entry);
  context.stack_pointer = top;
#else
  constexpr int kFrameWords = 20, kLinkRegister = 11;
  void** top = reinterpret_cast<void**>(stack.base + stack.size - offset) - kFrameWords;
  for (int i = 0; i < kFrameWords; ++i) top[i] = nullptr;
  top[kLinkRegister] = reinterpret_cast<void*>(entry);
  context.stack_pointer = top;
#endif
}

void prepare_thread(FiberContext& context) {
#if defined(__SANITIZE_ADDRESS__)
  pthread_attr_t attributes;
  void* base = nullptr;
  pthread_getattr_np(pthread_self(), &attributes);
  size_t size = 0;
  pthread_attr_getstack(&attributes, &base, &size);
  pthread_attr_destroy(&attributes);
  context.stack.size = static_cast<uint32_t>(std::min<size_t>(size, UINT32_MAX));
  context.stack.base = static_cast<char*>(base);
#elif defined(__SANITIZE_THREAD__)
  context.history = __tsan_get_current_fiber();
#else
  static_cast<void>(context);
#endif
}

}  // namespace treadle::simt
