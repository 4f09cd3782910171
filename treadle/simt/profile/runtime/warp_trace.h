/// A warp's lanes, put together as a GPU runs them: all that stand at the same place step together.
///
/// Lanes that part meet again where their ways do. Which go first is decided as hardware with one program
/// counter for a warp may do it: those deepest in calls, then those that stand first in the order of the code
/// (driver/block_order.h), so that the lanes of a branch go before those behind it, and those that are still
/// in a loop before those that have left it. (S. Collange, "Stack-less SIMT Reconvergence at Low Cost",
/// 2011.)
#pragma once

#include <array>
#include <cstdint>
#include <cstdlib>
#include <memory>

#include "treadle/simt/profile/runtime/lane_trace.h"
#include "treadle/simt/profile/runtime/request.h"

namespace treadle::profiler {

/// Told what a warp did, in an order that a GPU could have.
class WarpObserver {
 public:
  virtual ~WarpObserver() = default;
  virtual void run_block(uint32_t place, uint32_t lanes) = 0;
  virtual void access(uint32_t place, EventKind kind, const Request& request) = 0;
};

/// The order of stretches of code, by place; 0 where nothing is known.
class CodeOrder {
 public:
  /// For places below `places`, whose memory the system gives as it is touched.
  explicit CodeOrder(size_t places)
      : rank_(static_cast<uint32_t*>(std::calloc(places, sizeof(uint32_t))), std::free) {}
  void set(uint32_t place, uint32_t rank) { rank_.get()[place] = rank; }
  uint32_t of(uint32_t place) const { return rank_.get()[place]; }

 private:
  std::unique_ptr<uint32_t, decltype(&std::free)> rank_;
};

class WarpTrace {
 public:
  explicit WarpTrace(const CodeOrder& order) : order_(order) {}

  /// Whether lanes that have not returned will go on.
  enum class Extent : uint8_t {
    all,       ///< everything has been told: they stand at a barrier, or have ended
    complete,  ///< only as far as what is yet to come cannot change the order
  };

  std::array<LaneTrace, kLanes> lanes;

  /// Forgets all; `count` lanes will run.
  void begin(unsigned count);
  void replay(Extent extent, WarpObserver& observer);
  /// Events that have not been replayed.
  size_t pending() const;

 private:
  struct Group;
  bool step(Extent extent, WarpObserver& observer);

  const CodeOrder& order_;
  unsigned count_ = 0;
};

}  // namespace treadle::profiler
