#include "treadle/simt/warp.h"

namespace treadle::TREADLE_TARGET {
namespace {

template <class F>
void for_each_lane(unsigned lanes, F f) {
  for (; lanes != 0; lanes &= lanes - 1) f(static_cast<unsigned>(std::countr_zero(lanes)));
}

/// Gives each present lane the value of lane source(lane, parameter, width); its own value where that lane is
/// absent, which CUDA leaves undefined.
template <class Source>
void combine_shuffle(WarpExchange& lanes, Source source) {
  for_each_lane(lanes.present, [&](unsigned lane) {
    const unsigned from = source(lane, lanes.operand[lane] & 31u, lanes.operand[lane] >> 8);
    const bool is_there = (lanes.present >> from & 1u) != 0;
    if (!is_there) lanes.absent |= 1u << lane;
    lanes.result[lane] = lanes.value[is_there ? from : lane];
  });
}

unsigned first_lane_of_segment(unsigned lane, unsigned width) { return lane & ~(width - 1); }

unsigned lanes_with_value(const WarpExchange& lanes, uint64_t value) {
  unsigned equal = 0;
  for_each_lane(lanes.present, [&](unsigned lane) { equal |= unsigned{lanes.value[lane] == value} << lane; });
  return equal;
}

void give_all(WarpExchange& lanes, uint64_t result) {
  for_each_lane(lanes.present, [&](unsigned lane) { lanes.result[lane] = result; });
}

}  // namespace

void combine_nothing(WarpExchange&) {}

void combine_shuffle_index(WarpExchange& lanes) {
  combine_shuffle(lanes, [](unsigned lane, unsigned index, unsigned width) {
    return first_lane_of_segment(lane, width) + (index & (width - 1));
  });
}

void combine_shuffle_up(WarpExchange& lanes) {
  combine_shuffle(lanes, [](unsigned lane, unsigned delta, unsigned width) {
    return lane - first_lane_of_segment(lane, width) >= delta ? lane - delta : lane;
  });
}

void combine_shuffle_down(WarpExchange& lanes) {
  combine_shuffle(lanes, [](unsigned lane, unsigned delta, unsigned width) {
    return lane + delta < first_lane_of_segment(lane, width) + width ? lane + delta : lane;
  });
}

void combine_shuffle_xor(WarpExchange& lanes) {
  combine_shuffle(lanes, [](unsigned lane, unsigned lane_mask, unsigned width) {
    const unsigned from = lane ^ lane_mask;  // may lie in an earlier segment, never in a later one
    return from < first_lane_of_segment(lane, width) + width ? from : lane;
  });
}

void combine_ballot(WarpExchange& lanes) {
  unsigned ballot = 0;
  for_each_lane(lanes.present,
                [&](unsigned lane) { ballot |= static_cast<unsigned>(lanes.value[lane]) << lane; });
  give_all(lanes, ballot);
}

void combine_match_any(WarpExchange& lanes) {
  for_each_lane(lanes.present,
                [&](unsigned lane) { lanes.result[lane] = lanes_with_value(lanes, lanes.value[lane]); });
}

void combine_match_all(WarpExchange& lanes) {
  const unsigned equal = lanes_with_value(lanes, lanes.value[std::countr_zero(lanes.present)]);
  give_all(lanes, equal == lanes.present ? equal : 0);
}

}  // namespace treadle::TREADLE_TARGET
