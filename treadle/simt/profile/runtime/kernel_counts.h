/// What one OS thread has counted of a launch.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "treadle/simt/profile/report.h"
#include "treadle/simt/profile/runtime/touched_sectors.h"
#include "treadle/simt/profile/runtime/warp_trace.h"

namespace treadle::profiler {

/// Where shared memory lies in the running thread's storage: all `__shared__` variables of the program, those
/// that are made at a launch among them.
struct SharedRange {
  uintptr_t begin = 0;
  size_t bytes = 0;
  bool holds(uintptr_t address) const { return address - begin < bytes; }
};

class KernelCounts final : public WarpObserver {
 public:
  struct Access {
    uint32_t place = 0;
    bool ignored = false;  ///< the compiler's own, which a GPU does not have
    simt::AccessCounters counters;
    uintptr_t shared_begin = UINTPTR_MAX, shared_end = 0;  ///< of what it touched of shared memory

    // The last request, whose pattern the next one mostly has again.
    uint32_t mask = 0;
    uint64_t phase = 0;  ///< of its first address within what costs depend on
    std::array<uint64_t, kLanes> distance;
    unsigned sectors = 0, ideal_sectors = 0;
    std::array<int32_t, 2 * kLanes> sector;  ///< from the first address's
    unsigned wavefronts = 0, ideal_wavefronts = 0, rounds = 0;
  };
  struct Code {
    uint32_t place = 0;
    uint64_t runs = 0, lanes = 0;
  };

  /// For places below `places`.
  explicit KernelCounts(size_t places) : access_index_(2 * places), code_index_(places) {}

  void begin_block(const SharedRange& shared) {
    shared_ = shared;
    touched.begin_block();
  }

  void run_block(uint32_t place, uint32_t lanes) override;
  void access(uint32_t place, EventKind kind, const Request& request) override;

  /// Counted until now, which is then forgotten.
  std::vector<Access> take_accesses();
  std::vector<Code> take_code();

  TouchedSectors touched;
  /// By number of the place and, of a collective, of the function that combines.
  std::map<std::tuple<uint64_t, simt::MeetingKind, uint64_t>, uint64_t> meetings;
  uint64_t blocks = 0, warps = 0;

 private:
  /// A table from numbers to indices from 1 on. The system gives its memory as it is touched.
  class Index {
   public:
    explicit Index(size_t numbers)
        : index_(static_cast<uint32_t*>(std::calloc(numbers, sizeof(uint32_t))), std::free) {}
    uint32_t& of(size_t number) { return index_.get()[number]; }

   private:
    std::unique_ptr<uint32_t, decltype(&std::free)> index_;
  };
  /// An instruction may both load and store.
  static size_t number_of(uint32_t place, simt::AccessKind kind) {
    return 2 * size_t{place} + (kind == simt::AccessKind::store ? 1 : 0);
  }

  Access& access_at(uint32_t place, EventKind kind, const Request& request);
  void measure(Access& access, const Request& request);

  SharedRange shared_;
  Index access_index_, code_index_;
  std::vector<Access> accesses_;
  std::vector<Code> code_;
};

}  // namespace treadle::profiler
