// Requests by hand, and warps whose lanes part and meet again.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "treadle/simt/profile/runtime/request.h"
#include "treadle/simt/profile/runtime/warp_trace.h"

namespace treadle::profiler {
namespace {

/// All lanes, each `stride` bytes behind the one before.
Request strided(uint64_t begin, uint64_t stride, unsigned bytes) {
  Request request{{}, 0xffffffffu, bytes};
  for (unsigned lane = 0; lane < kLanes; ++lane) request.address[lane] = begin + lane * stride;
  return request;
}

unsigned sectors_of(const Request& request) {
  SectorCost cost;
  find_sectors(request, cost);
  return cost.count;
}
unsigned ideal_of(const Request& request) {
  SectorCost cost;
  find_sectors(request, cost);
  return cost.ideal;
}

TEST(Requests, TouchSectors) {
  EXPECT_EQ(sectors_of(strided(4096, 4, 4)), 4u);
  EXPECT_EQ(sectors_of(strided(4096, 8, 4)), 8u);
  EXPECT_EQ(sectors_of(strided(4096, 128, 4)), 32u);
  EXPECT_EQ(sectors_of(strided(4096, 16, 16)), 16u);
  EXPECT_EQ(sectors_of(strided(4100, 4, 4)), 5u);
  EXPECT_EQ(sectors_of(strided(4096, 0, 4)), 1u);
  EXPECT_EQ(sectors_of(strided(4096 + 30, 64, 4)), 64u);  // each lies over an edge
}

TEST(Requests, HaveAnIdealOfDifferentBytes) {
  EXPECT_EQ(ideal_of(strided(4096, 128, 4)), 4u);
  EXPECT_EQ(ideal_of(strided(4096, 0, 4)), 1u);
  EXPECT_EQ(ideal_of(strided(4096, 2, 4)), 3u);  // they overlap: 66 bytes
  EXPECT_EQ(ideal_of(strided(4096, 16, 16)), 16u);
  Request some = strided(4096, 4, 4);
  some.mask = 0x00ff00ffu;
  EXPECT_EQ(ideal_of(some), 2u);
  EXPECT_EQ(sectors_of(some), 2u);
}

TEST(Requests, PassOverBanks) {
  const auto passes = [](const Request& request) { return wavefronts_of(request).count; };
  for (const unsigned stride : {1u, 3u, 5u, 33u}) EXPECT_EQ(passes(strided(64, stride * 4, 4)), 1u) << stride;
  for (const unsigned stride : {2u, 4u, 8u, 16u, 32u})
    EXPECT_EQ(passes(strided(64, stride * 4, 4)), stride) << stride;
  EXPECT_EQ(passes(strided(64, 0, 4)), 1u);
  EXPECT_EQ(passes(strided(64, 1, 1)), 1u);
  EXPECT_EQ(passes(strided(64, 8, 8)), 2u);    // halves
  EXPECT_EQ(passes(strided(64, 16, 8)), 4u);   // lanes 8 apart meet
  EXPECT_EQ(passes(strided(64, 16, 16)), 4u);  // quarters
  EXPECT_EQ(passes(strided(64, 32, 16)), 8u);
  EXPECT_EQ(wavefronts_of(strided(64, 128, 8)).ideal, 2u);
  Request half = strided(64, 16, 16);
  half.mask = 0x0000ffffu;
  EXPECT_EQ(wavefronts_of(half).count, 2u);
  EXPECT_EQ(wavefronts_of(half).ideal, 2u);
}

TEST(Requests, OfAtomicsGoRound) {
  EXPECT_EQ(rounds_of(strided(64, 0, 4)), 32u);
  EXPECT_EQ(rounds_of(strided(64, 4, 4)), 1u);
  Request pairs = strided(64, 4, 4);
  for (unsigned lane = 0; lane < kLanes; ++lane) pairs.address[lane] = 64 + lane / 2 * 4;
  EXPECT_EQ(rounds_of(pairs), 2u);
}

/// What a replay tells, in words: "b1:3" a stretch at place 1 by the lanes of mask 3, "a2:3" an access.
class Told final : public WarpObserver {
 public:
  std::string text;
  void run_block(uint32_t place, uint32_t lanes) override { text += fmt::format(" b{}:{:x}", place, lanes); }
  void access(uint32_t place, EventKind, const Request& request) override {
    text += fmt::format(" a{}:{:x}", place, request.mask);
  }
};

/// Lanes 0, 1, … with a stretch for each number; a negative one is an access.
struct Warp {
  static constexpr size_t kPlaces = 1000;
  static constexpr uint64_t kStack = 0x7000;
  CodeOrder order{kPlaces};
  WarpTrace trace{order};

  explicit Warp(const std::vector<std::vector<int>>& lanes) {
    trace.begin(static_cast<unsigned>(lanes.size()));
    for (size_t i = 0; i < lanes.size(); ++i) add(i, lanes[i]);
  }
  void add(size_t lane, const std::vector<int>& events) {
    for (const int event : events)
      if (event < 0)
        trace.lanes[lane].append(static_cast<uint32_t>(-event),
                                 Event::pack(EventKind::load, 4, 64 + 4 * lane));
      else
        trace.lanes[lane].append_block(static_cast<uint32_t>(event), kStack);
  }
  std::string replay(WarpTrace::Extent extent = WarpTrace::Extent::all) {
    Told told;
    trace.replay(extent, told);
    return told.text;
  }
};

TEST(WarpTraces, StepTogether) { EXPECT_EQ(Warp({{1, -2, 3}, {1, -2, 3}}).replay(), " b1:3 a2:3 b3:3"); }

TEST(WarpTraces, MeetBehindABranch) {
  EXPECT_EQ(Warp({{1, 2, -20, 4}, {1, 3, -30, 4}}).replay(), " b1:3 b2:1 a20:1 b3:2 a30:2 b4:3");
}

TEST(WarpTraces, WaitForThoseInALoop) {
  EXPECT_EQ(Warp({{1, 2, 3}, {1, 2, 2, 2, 3}}).replay(), " b1:3 b2:3 b2:2 b2:2 b3:3");
}

TEST(WarpTraces, FollowTheOrderOfTheCodeNotOfAddresses) {
  Warp warp({{1, 9, 4}, {1, 4}});  // the branch lies behind the end
  EXPECT_EQ(warp.replay(), " b1:3 b4:2 b9:1 b4:1");
  Warp ordered({{1, 9, 4}, {1, 4}});
  ordered.order.set(1, 1);
  ordered.order.set(9, 2);
  ordered.order.set(4, 3);
  EXPECT_EQ(ordered.replay(), " b1:3 b9:1 b4:3");
}

TEST(WarpTraces, WaitForThoseInACall) {
  Warp warp({{1}, {1, 3}});
  warp.trace.lanes[0].append_block(9, Warp::kStack - 32);  // deeper
  warp.add(0, {2, 3});
  EXPECT_EQ(warp.replay(), " b1:3 b9:1 b2:1 b3:3");
}

TEST(WarpTraces, AreToldAsFarAsTheOrderIsKnown) {
  Warp warp({{1, 2, 3}, {1}});
  EXPECT_EQ(warp.replay(WarpTrace::Extent::complete), "");  // lane 1 may still access in stretch 1
  warp.add(1, {2, -5, 3});
  EXPECT_EQ(warp.replay(WarpTrace::Extent::complete), " b1:3 b2:3");
  EXPECT_EQ(warp.replay(), " a5:2 b3:3");
  EXPECT_EQ(warp.trace.pending(), 0u);
}

TEST(WarpTraces, DoNotWaitForLanesThatHaveReturned) {
  Warp warp({{1}, {1, 2, 3}});
  warp.trace.lanes[0].ended = true;
  EXPECT_EQ(warp.replay(WarpTrace::Extent::complete), " b1:3 b2:2");
}

TEST(LaneTraces, JoinWhatLiesSideBySide) {
  LaneTrace lane;
  lane.begin_thread();
  lane.append(1, Event::pack(EventKind::store, 4, 0x100));
  EXPECT_TRUE(lane.extend_last(EventKind::store, 4, 0x104));
  EXPECT_TRUE(lane.extend_last(EventKind::store, 4, 0x108));
  EXPECT_TRUE(lane.extend_last(EventKind::store, 4, 0x10c));
  EXPECT_EQ(Event::bytes(lane.data()[0]), 16u);
  EXPECT_FALSE(lane.extend_last(EventKind::store, 4, 0x110));  // no access has more
  lane.append(2, Event::pack(EventKind::store, 4, 0x204));
  EXPECT_FALSE(lane.extend_last(EventKind::store, 4, 0x208));  // not aligned to both
  EXPECT_FALSE(lane.extend_last(EventKind::store, 4, 0x20c));  // not side by side
  EXPECT_FALSE(lane.extend_last(EventKind::load, 4, 0x208));
}

}  // namespace
}  // namespace treadle::profiler
