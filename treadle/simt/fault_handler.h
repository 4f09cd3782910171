/// Faults of kernels: a bad address, an illegal instruction, a stack that overflows, an abort().
#pragma once

#include <cstddef>
#include <string>

#include "treadle/core/signal_stack.h"
#include "treadle/simt/target.h"

namespace treadle::TREADLE_TARGET {

/// What the processor or abort() said.
struct Fault {
  int signal = 0;
  int code = 0;                   ///< si_code
  const void* address = nullptr;  ///< that was accessed, for bad addresses
  const void* instruction = nullptr;
};

/// "invalid address 0x10, by the instruction at program+0x1234".
std::string describe(const Fault& fault);

/// Has the process ask executors first about signals of faults, once and for all. What does not come from a
/// fiber goes to whoever was asked before. Sanitizers keep them for themselves.
void install_fault_handlers();

/// Stacks of the thread that makes one: for handlers of signals, since a fiber's may be what overflowed, and
/// for what is done about a fault after the handler. Throws DeviceError when memory is out.
class FaultStacks {
 public:
  FaultStacks();
  ~FaultStacks();
  FaultStacks(const FaultStacks&) = delete;
  FaultStacks& operator=(const FaultStacks&) = delete;

  /// The end of the second.
  char* top() const { return memory_ + kBytes; }

 private:
  static constexpr size_t kBytes = 64 * 1024;
  SignalStack of_handlers_;
  char* memory_ = nullptr;
};

}  // namespace treadle::TREADLE_TARGET
