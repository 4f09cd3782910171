#include "treadle/simt/fault_handler.h"

#include <dlfcn.h>
#include <fmt/core.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <array>
#include <csignal>
#include <cstdint>
#include <cstring>

#include "treadle/core/error.h"
#include "treadle/simt/block_executor.h"

#if (defined(__x86_64__) || defined(__aarch64__)) && !defined(__SANITIZE_ADDRESS__)
#define TREADLE_SIMT_FAULTS 1
#endif

namespace treadle::TREADLE_TARGET {
namespace {

std::string file_name(const char* path) {
  const char* slash = std::strrchr(path, '/');
  return slash == nullptr ? path : slash + 1;
}

/// "program+0x1234", as addr2line takes it.
std::string place_of(const void* instruction) {
  Dl_info info{};
  if (dladdr(instruction, &info) == 0 || info.dli_fname == nullptr) return fmt::format("{}", instruction);
  const auto offset = static_cast<const char*>(instruction) - static_cast<const char*>(info.dli_fbase);
  return fmt::format("{}+{:#x}", file_name(info.dli_fname), offset);
}

std::string kind_of(const Fault& fault) {
  switch (fault.signal) {
    case SIGFPE:
      return fault.code == FPE_INTDIV ? "division of an integer by zero" : "floating-point trap";
    case SIGILL:
      return "illegal instruction";
    case SIGABRT:
      return "abort()";
    case SIGBUS:
      return fmt::format("bus error at address {}", fault.address);
    default:
      return fmt::format("invalid address {}", fault.address);
  }
}

}  // namespace

std::string describe(const Fault& fault) {
  const std::string kind = kind_of(fault);
  return fault.signal == SIGABRT ? kind : kind + ", by the instruction at " + place_of(fault.instruction);
}

#if defined(TREADLE_SIMT_FAULTS)

namespace {

constexpr std::array kSignals{SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
std::array<struct sigaction, kSignals.size()> before;

#if defined(__x86_64__)
uintptr_t stack_pointer(const ucontext_t& state) {
  return static_cast<uintptr_t>(state.uc_mcontext.gregs[REG_RSP]);
}
uintptr_t instruction(const ucontext_t& state) {
  return static_cast<uintptr_t>(state.uc_mcontext.gregs[REG_RIP]);
}
/// When the handler returns, `function` is called on the stack that ends at `top`.
void go_on_at(ucontext_t& state, void (*function)(), char* top) {
  state.uc_mcontext.gregs[REG_RSP] = static_cast<greg_t>(reinterpret_cast<uintptr_t>(top) - 64 - 8);
  state.uc_mcontext.gregs[REG_RBP] = 0;
  state.uc_mcontext.gregs[REG_RIP] = static_cast<greg_t>(reinterpret_cast<uintptr_t>(function));
}
#else
uintptr_t stack_pointer(const ucontext_t& state) { return state.uc_mcontext.sp; }
uintptr_t instruction(const ucontext_t& state) { return state.uc_mcontext.pc; }
void go_on_at(ucontext_t& state, void (*function)(), char* top) {
  state.uc_mcontext.sp = reinterpret_cast<uintptr_t>(top) - 64;
  state.uc_mcontext.regs[29] = state.uc_mcontext.regs[30] = 0;
  state.uc_mcontext.pc = reinterpret_cast<uintptr_t>(function);
}
#endif

void end_faulted_block() { running_executor->end_by_fault(); }

/// The fault is the process's own.
void pass_on(int signal, siginfo_t* info, void* state) {
  size_t i = 0;
  while (kSignals[i] != signal) ++i;
  const struct sigaction& action = before[i];
  if ((action.sa_flags & SA_SIGINFO) != 0) return action.sa_sigaction(signal, info, state);
  if (action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN) return action.sa_handler(signal);
  sigaction(signal, &action, nullptr);
  if (info->si_code <= 0) raise(signal);  // it was sent; else the instruction faults again
}

void handle_fault(int signal, siginfo_t* info, void* context) {
  ucontext_t& state = *static_cast<ucontext_t*>(context);
  BlockExecutor* executor = running_executor;
  const bool sent = info->si_code <= 0;
  if (executor == nullptr || sent != (signal == SIGABRT) || !executor->on_fiber(stack_pointer(state)))
    return pass_on(signal, info, context);
  Fault fault{signal, info->si_code, nullptr, reinterpret_cast<const void*>(instruction(state))};
  if (!sent) fault.address = info->si_addr;
  executor->note_fault(fault);
  go_on_at(state, end_faulted_block, executor->fault_stack_top());
}

}  // namespace

void install_fault_handlers() {
  static const bool installed = [] {
    struct sigaction action {};
    action.sa_sigaction = handle_fault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigfillset(&action.sa_mask);
    for (size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &action, &before[i]);
    return true;
  }();
  static_cast<void>(installed);
}

FaultStacks::FaultStacks() {
  void* memory =
      mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  require<DeviceError>(memory != MAP_FAILED, "simt: no memory for the stack of handlers of faults");
  memory_ = static_cast<char*>(memory);
}

FaultStacks::~FaultStacks() { munmap(memory_, kBytes); }

#else

void install_fault_handlers() {}
FaultStacks::FaultStacks() = default;
FaultStacks::~FaultStacks() = default;

#endif

}  // namespace treadle::TREADLE_TARGET
