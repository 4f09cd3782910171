#include "cli/bench/ceiling_loops.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cli/bench/ceiling_loops.cpp"
// Sums are arrays of vectors, which vectors without a fixed size cannot form.
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace treadle::cli::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::ScalableTag<float>;
using Words = hn::ScalableTag<uint32_t>;
constexpr int kSums = 12;  ///< enough for two units with a latency of five; fits 16 registers
constexpr int kStreams = 8;

float multiply_add(int64_t rounds) {
  const Floats d;
  // Read from memory, so that the compiler knows neither factor nor term: each sum tends to 1.
  volatile float factor = 0.5f, term = 0.5f;
  const auto a = hn::Set(d, factor), b = hn::Set(d, term);
  hn::Vec<Floats> sums[kSums];
  for (int i = 0; i < kSums; ++i) sums[i] = hn::Set(d, float(i));
  for (int64_t round = 0; round < rounds; ++round) {
#pragma GCC unroll 12
    for (int i = 0; i < kSums; ++i) sums[i] = hn::MulAdd(sums[i], a, b);
  }
  auto total = sums[0];
  for (int i = 1; i < kSums; ++i) total = hn::Add(total, sums[i]);
  return hn::GetLane(hn::SumOfLanes(d, total));
}

uint32_t read(const float* data, int64_t count) {
  const Words d;
  const auto lanes = int64_t(hn::MaxLanes(d));
  const auto* words = reinterpret_cast<const uint32_t*>(data);
  hn::Vec<Words> folded[kStreams];
  for (int i = 0; i < kStreams; ++i) folded[i] = hn::Zero(d);
  for (int64_t k = 0; k + kStreams * lanes <= count; k += kStreams * lanes) {
#pragma GCC unroll 8
    for (int i = 0; i < kStreams; ++i) folded[i] = hn::Xor(folded[i], hn::Load(d, words + k + i * lanes));
  }
  auto total = folded[0];
  for (int i = 1; i < kStreams; ++i) total = hn::Xor(total, folded[i]);
  return hn::GetLane(total);
}

void write(float* data, int64_t count, float value) {
  const Floats d;
  const auto lanes = int64_t(hn::MaxLanes(d));
  const auto v = hn::Set(d, value);
  for (int64_t k = 0; k + kStreams * lanes <= count; k += kStreams * lanes) {
#pragma GCC unroll 8
    for (int i = 0; i < kStreams; ++i) hn::Store(v, d, data + k + i * lanes);
  }
}

CeilingLoops loops() {
  return {hwy::TargetName(HWY_TARGET), 2 * kSums * int64_t(hn::MaxLanes(Floats{})), multiply_add, read,
          write};
}

}  // namespace treadle::cli::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace treadle::cli {
namespace {
HWY_EXPORT(loops);
}  // namespace

CeilingLoops ceiling_loops() { return HWY_DYNAMIC_DISPATCH(loops)(); }

}  // namespace treadle::cli
#endif
