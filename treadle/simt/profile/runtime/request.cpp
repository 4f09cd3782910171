#include "treadle/simt/profile/runtime/request.h"

#include <algorithm>
#include <bit>

namespace treadle::profiler {
namespace {

/// Numbers without repetitions: in one bucket, those that were put there.
template <size_t kMost>
class Distinct {
 public:
  /// Whether it is new.
  bool add(uint64_t number) {
    for (size_t i = count_; i-- > 0;)
      if (numbers_[i] == number) return false;
    numbers_[count_++] = number;
    return true;
  }
  size_t count() const { return count_; }

 private:
  std::array<uint64_t, kMost> numbers_;
  size_t count_ = 0;
};

template <class F>
void for_each_lane(uint32_t mask, F f) {
  for (; mask != 0; mask &= mask - 1) f(static_cast<unsigned>(std::countr_zero(mask)));
}

/// How many different bytes the lanes ask for.
unsigned different_bytes(const Request& request) {
  std::array<uint64_t, kLanes> begins;
  unsigned count = 0;
  for_each_lane(request.mask, [&](unsigned lane) { begins[count++] = request.address[lane]; });
  if (!std::is_sorted(begins.begin(), begins.begin() + count))
    std::sort(begins.begin(), begins.begin() + count);
  uint64_t end = 0;
  unsigned bytes = 0;
  for (unsigned i = 0; i < count; ++i) {
    const uint64_t stop = begins[i] + request.bytes;
    if (stop <= end) continue;
    bytes += static_cast<unsigned>(stop - std::max(begins[i], end));
    end = stop;
  }
  return bytes;
}

constexpr unsigned kWordBytes = 4, kBanks = 32;

/// Passes that the lanes of one group need: the most different words of a bank.
unsigned passes_of(const Request& request, uint32_t mask) {
  Distinct<5 * kLanes> words;  // 16 bytes that begin within a word touch five
  std::array<uint8_t, kBanks> in_bank{};
  unsigned passes = 0;
  for_each_lane(mask, [&](unsigned lane) {
    const uint64_t first = request.address[lane] / kWordBytes,
                   last = (request.address[lane] + request.bytes - 1) / kWordBytes;
    for (uint64_t word = first; word <= last; ++word)
      if (words.add(word)) passes = std::max<unsigned>(passes, ++in_bank[word % kBanks]);
  });
  return passes;
}

}  // namespace

void find_sectors(const Request& request, SectorCost& cost) {
  cost.count = 0;
  const auto add = [&](uint64_t sector) {
    for (unsigned i = cost.count; i-- > 0;)  // neighbours mostly share the last one
      if (cost.sectors[i] == sector) return;
    cost.sectors[cost.count++] = sector;
  };
  for_each_lane(request.mask, [&](unsigned lane) {
    const uint64_t begin = request.address[lane], last = begin + request.bytes - 1;
    add(begin / kSectorBytes);
    if (last / kSectorBytes != begin / kSectorBytes) add(last / kSectorBytes);
  });
  cost.ideal = (different_bytes(request) + kSectorBytes - 1) / kSectorBytes;
}

WavefrontCost wavefronts_of(const Request& request) {
  const unsigned group = request.bytes > 8 ? 8 : request.bytes > 4 ? 16 : 32;
  const uint32_t lanes = group == 32 ? 0xffffffffu : (1u << group) - 1;
  WavefrontCost cost;
  for (unsigned first = 0; first < kLanes; first += group) {
    const uint32_t mask = request.mask & lanes << first;
    if (mask == 0) continue;
    cost.count += passes_of(request, mask);
    ++cost.ideal;
  }
  return cost;
}

unsigned rounds_of(const Request& request) {
  unsigned most = 0;
  for (uint32_t rest = request.mask; rest != 0;) {
    const uint64_t address = request.address[static_cast<unsigned>(std::countr_zero(rest))];
    unsigned count = 0;
    for_each_lane(rest, [&](unsigned lane) {
      if (request.address[lane] != address) return;
      rest &= ~(1u << lane);
      ++count;
    });
    most = std::max(most, count);
  }
  return most;
}

}  // namespace treadle::profiler
