/// What the executor tells a checker: calls at every event. They are nothing unless TREADLE_SIMT_CHECK is
/// defined, which makes them functions that the checker (check/) supplies.
///
/// The events of a block come from the OS thread that runs it. The launching thread calls grid_begin and
/// grid_end around all of them.
#pragma once

#include "treadle/simt/executor_calls.h"

namespace treadle::TREADLE_TARGET {

struct KernelLaunch;  // launch.h
struct Schedule;      // executor.h

namespace hooks {

/// Who sees an atomic access or a fence, in rising order.
enum class Scope : uint8_t { block, device, system };

/// What the executor itself finds wrong. `kind` is a word of the reports: "divergent-barrier",
/// "divergent-collective", "deadlock", "assert", "fault".
struct Mistake {
  const char* kind;
  const char* message;
  Site site;
  unsigned thread;  ///< its number within the block
  bool has_other = false;
  Site other_site = {};
  unsigned other_thread = 0;
  // Where the place is known in another way than `site`, whose line is 0 then.
  const void* instruction = nullptr;  ///< that faulted
  const char* file = nullptr;         ///< of an assertion
  unsigned line = 0;
  Site last_wait = {};  ///< of a thread that was running: where it has waited last
};

#if defined(TREADLE_SIMT_CHECK)
#define TREADLE_HOOK(signature) void signature;
#else
#define TREADLE_HOOK(signature) \
  inline void signature {}
#endif

TREADLE_HOOK(grid_begin(const KernelLaunch&, const Schedule&))
/// Also after a failure.
TREADLE_HOOK(grid_end())
/// On the OS thread that will run the block until block_end, which is called after a failure, too.
TREADLE_HOOK(block_begin(uint64_t /*block*/, unsigned /*threads*/, void* /*dynamic_shared*/,
                         size_t /*bytes*/))
TREADLE_HOOK(block_end())
/// From now on `thread` (its number within the block) runs.
TREADLE_HOOK(thread_switch(unsigned /*thread*/))
TREADLE_HOOK(thread_end(unsigned /*thread*/))
/// A block barrier opens; `exited` threads had returned without reaching it.
TREADLE_HOOK(block_barrier(Site, unsigned /*exited*/))
/// All blocks of a cooperative grid have met: each calls this when it goes on.
TREADLE_HOOK(grid_barrier())
/// The lanes of `present` have met at a collective over `mask`; `is_sync` for __syncwarp, which alone orders
/// memory.
TREADLE_HOOK(warp_collective(unsigned /*warp*/, unsigned /*mask*/, unsigned /*present*/, bool /*is_sync*/,
                             Site))
TREADLE_HOOK(mistake(const Mistake&))
/// The grid ended with an error.
TREADLE_HOOK(grid_failed())
TREADLE_HOOK(fence(Scope, Site))
/// The running thread begins a background copy to shared memory, of `read` bytes and zeros behind them; and
/// it has waited for one, or ends.
TREADLE_HOOK(copy_begun(void* /*shared*/, size_t /*bytes*/, const void* /*global*/, size_t /*read*/, Site))
TREADLE_HOOK(copy_arrived(void* /*shared*/, size_t /*bytes*/))

// What the host's side of other people's programs (toolkit/) tells. `caller` is an address in the program
// behind the call: the return address.

/// A call of the host interface that CUDA refuses, or takes though it is a mistake.
TREADLE_HOOK(api_mistake(const char* /*function*/, const char* /*message*/, const void* /*caller*/))
/// Memory of the host's own that kernels may use from now on (cudaHostRegister), and its end.
TREADLE_HOOK(host_memory_registered(const void* /*memory*/, size_t /*bytes*/))
TREADLE_HOOK(host_memory_unregistered(const void* /*memory*/, size_t /*bytes*/))

/// Around the loads, stores and exchanges that make up one atomic access.
class AtomicAccess {
 public:
#if defined(TREADLE_SIMT_CHECK)
  AtomicAccess(const void* address, size_t bytes, Scope scope, Site site);
  ~AtomicAccess();
#else
  AtomicAccess(const void*, size_t, Scope, Site) {}
  ~AtomicAccess() {}
#endif
  AtomicAccess(const AtomicAccess&) = delete;
  AtomicAccess& operator=(const AtomicAccess&) = delete;
};

/// While one lives, accesses are the executor's own, though device code makes them.
class OwnWork {
 public:
#if defined(TREADLE_SIMT_CHECK)
  OwnWork();
  ~OwnWork();

 private:
  void* block_;
#else
  OwnWork() {}
  ~OwnWork() {}
#endif
  OwnWork(const OwnWork&) = delete;
  OwnWork& operator=(const OwnWork&) = delete;
};

#undef TREADLE_HOOK

}  // namespace hooks
}  // namespace treadle::TREADLE_TARGET
