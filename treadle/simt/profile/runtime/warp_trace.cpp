#include "treadle/simt/profile/runtime/warp_trace.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace treadle::profiler {
namespace {

/// Where a lane stands, in the order in which lanes go on.
struct Position {
  int64_t depth;  ///< deeper goes first
  uint32_t rank;
  uint32_t place;  ///< of the stretch of code
  bool at_begin;   ///< who is in the middle of it goes on first
  uint32_t event;  ///< what comes next
  friend bool operator<(const Position& a, const Position& b) {
    if (a.depth != b.depth) return a.depth > b.depth;
    if (a.rank != b.rank) return a.rank < b.rank;
    if (a.place != b.place) return a.place < b.place;
    if (a.at_begin != b.at_begin) return b.at_begin;
    return a.event < b.event;
  }
  friend bool operator==(const Position& a, const Position& b) = default;
};

int64_t depth_of(LaneTrace& lane, uint64_t stack) {
  if (lane.stack_base == 0) lane.stack_base = stack;
  return static_cast<int64_t>(lane.stack_base) - static_cast<int64_t>(stack);
}

Position position_of(LaneTrace& lane, const CodeOrder& order) {
  const uint32_t event = lane.places()[lane.cursor()];
  const uint64_t data = lane.data()[lane.cursor()];
  if (Event::kind(data) != EventKind::block)
    return {lane.depth, order.of(lane.place), lane.place, false, event};
  return {depth_of(lane, Event::address(data)), order.of(event), event, true, event};
}

/// How many of `most` places are the same.
size_t common_prefix(const uint32_t* a, const uint32_t* b, size_t most) {
  constexpr size_t kAtOnce = 32;
  size_t i = 0;
  for (; i + kAtOnce <= most && std::memcmp(a + i, b + i, kAtOnce * sizeof *a) == 0; i += kAtOnce) {
  }
  while (i < most && a[i] == b[i]) ++i;
  return i;
}

}  // namespace

/// Lanes that step together.
struct WarpTrace::Group {
  uint32_t mask = 0;
  std::array<uint8_t, kLanes> lane;  ///< their numbers
  unsigned count = 0;
  size_t events = 0;  ///< that all of them have in common
};

void WarpTrace::begin(unsigned count) {
  count_ = count;
  for (LaneTrace& lane : lanes) lane.begin_thread();
}

size_t WarpTrace::pending() const {
  size_t sum = 0;
  for (const LaneTrace& lane : lanes) sum += lane.size() - lane.cursor();
  return sum;
}

void WarpTrace::replay(Extent extent, WarpObserver& observer) {
  while (step(extent, observer)) {
  }
  for (unsigned i = 0; i < count_; ++i) lanes[i].compact();
}

bool WarpTrace::step(Extent extent, WarpObserver& observer) {
  std::array<size_t, kLanes> left;
  std::array<Position, kLanes> positions;
  uint32_t present = 0;
  Position first{}, next{};
  bool has_next = false;
  for (unsigned i = 0; i < count_; ++i) {
    LaneTrace& lane = lanes[i];
    const bool all = extent == Extent::all || lane.ended;
    left[i] = (all ? lane.size() : lane.blocks_end()) - lane.cursor();
    if (left[i] == 0) {
      if (!all) return false;  // what it does next may come before what others do
      continue;
    }
    positions[i] = position_of(lane, order_);
    if (present == 0 || positions[i] < first) {
      if (present != 0) next = first, has_next = true;
      first = positions[i];
    } else if (!(positions[i] == first) && (!has_next || positions[i] < next)) {
      next = positions[i];
      has_next = true;
    }
    present |= 1u << i;
  }
  if (present == 0) return false;

  Group group;
  group.events = SIZE_MAX;
  for (; present != 0; present &= present - 1) {
    const auto i = static_cast<unsigned>(std::countr_zero(present));
    if (!(positions[i] == first)) continue;
    group.mask |= 1u << i;
    group.lane[group.count++] = static_cast<uint8_t>(i);
    group.events = std::min(group.events, left[i]);
  }
  const LaneTrace& leader = lanes[group.lane[0]];
  const uint32_t* places = leader.places() + leader.cursor();
  for (unsigned i = 1; i < group.count; ++i) {
    const LaneTrace& lane = lanes[group.lane[i]];
    group.events = common_prefix(places, lane.places() + lane.cursor(), group.events);
  }

  const uint64_t* data = leader.data() + leader.cursor();
  std::array<const uint64_t*, kLanes> columns;
  for (unsigned i = 0; i < group.count; ++i) {
    const LaneTrace& lane = lanes[group.lane[i]];
    columns[i] = lane.data() + lane.cursor();
  }
  Request request{};
  request.mask = group.mask;
  size_t done = 0;
  for (; done < group.events; ++done) {
    const EventKind kind = Event::kind(data[done]);
    if (kind == EventKind::block) {
      const uint32_t place = places[done];
      if (done > 0 && has_next &&
          !(Position{depth_of(lanes[group.lane[0]], Event::address(data[done])), order_.of(place), place,
                     true, place} < next))
        break;  // the others' turn
      observer.run_block(places[done], group.mask);
      continue;
    }
    request.bytes = Event::bytes(data[done]);
    for (unsigned i = 0; i < group.count; ++i)
      request.address[group.lane[i]] = Event::address(columns[i][done]);
    observer.access(places[done], kind, request);
  }
  // Depth and place of the last stretch that was entered: those of all lanes of the group.
  size_t entered = done;
  while (entered > 0 && Event::kind(data[entered - 1]) != EventKind::block) --entered;
  for (unsigned i = 0; i < group.count; ++i) {
    LaneTrace& lane = lanes[group.lane[i]];
    if (entered > 0) {
      lane.place = places[entered - 1];
      lane.depth = depth_of(lane, Event::address(columns[i][entered - 1]));
    }
    lane.advance(done);
  }
  return true;
}

}  // namespace treadle::profiler
