// What happens across the lanes of vectors: those that a mask lists are stored side by side, and sums over
// all of them. For each instruction set that the including file is compiled for.
#include <array>
#include <bit>
#include <cstdint>

#ifndef TREADLE_SIMD_LANES_ONCE
#define TREADLE_SIMD_LANES_ONCE
namespace treadle::cpu {

/// Entry m: the numbers of m's bits that are set, a byte each, from the lowest on.
constexpr std::array<uint64_t, 256> set_bits() {
  std::array<uint64_t, 256> table{};
  for (uint64_t m = 0; m < 256; ++m)
    for (uint64_t bit = 0, count = 0; bit < 8; ++bit)
      if (m >> bit & 1) table[m] |= bit << 8 * count++;
  return table;
}
inline constexpr std::array<uint64_t, 256> kSetBits = set_bits();

}  // namespace treadle::cpu
#endif

#if defined(TREADLE_SIMD_LANES_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TREADLE_SIMD_LANES_INL_H
#undef TREADLE_SIMD_LANES_INL_H
#else
#define TREADLE_SIMD_LANES_INL_H
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace treadle::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Stores the lanes of `value` and `offset` that are listed, and anything behind them; returns how many.
template <class V, class Offset>
HWY_INLINE int64_t store_listed(V value, Offset offset, hn::Mask<hn::DFromV<V>> listed,
                                float* HWY_RESTRICT values, int32_t* HWY_RESTRICT offsets) {
  const hn::DFromV<V> d;
  const hn::DFromV<Offset> di;
#if HWY_TARGET == HWY_SSE4 || HWY_TARGET == HWY_AVX2
  // GCC copies the table inside Highway's Compress to the stack on every call.
  uint8_t bits[8] = {};
  hn::StoreMaskBits(d, listed, bits);
  const hn::Rebind<uint8_t, hn::DFromV<Offset>> bytes;
  const auto source =
      hn::PromoteTo(di, hn::LoadU(bytes, reinterpret_cast<const uint8_t*>(&kSetBits[bits[0]])));
  hn::StoreU(hn::TableLookupLanes(value, hn::IndicesFromVec(d, source)), d, values);
  hn::StoreU(hn::TableLookupLanes(offset, hn::IndicesFromVec(di, source)), di, offsets);
  return std::popcount(bits[0]);
#else
  hn::StoreU(hn::Compress(value, listed), d, values);
  hn::StoreU(hn::Compress(offset, hn::RebindMask(di, listed)), di, offsets);
  return int64_t(hn::CountTrue(d, listed));
#endif
}

/// Stores the sums of the lanes of four vectors.
#if HWY_TARGET == HWY_SCALAR
template <class V>
HWY_INLINE void store_sums_of_lanes(const V (&v)[4], float* HWY_RESTRICT out) {
  for (int j = 0; j < 4; ++j) out[j] = hn::GetLane(v[j]);
}
#else
template <class D>
HWY_INLINE auto add_blocks(D d, hn::Vec<D> v) {
  if constexpr (hn::MaxLanes(D()) == 4) {
    (void)d;
    return v;
  } else {
    const hn::Half<D> half;
    return add_blocks(half, hn::Add(hn::LowerHalf(half, v), hn::UpperHalf(half, v)));
  }
}

template <class V>
HWY_INLINE void store_sums_of_lanes(const V (&v)[4], float* HWY_RESTRICT out) {
  const hn::DFromV<V> d;
  const auto even = hn::Add(hn::InterleaveLower(d, v[0], v[2]), hn::InterleaveUpper(d, v[0], v[2]));
  const auto odd = hn::Add(hn::InterleaveLower(d, v[1], v[3]), hn::InterleaveUpper(d, v[1], v[3]));
  const auto sums = hn::Add(hn::InterleaveLower(d, even, odd), hn::InterleaveUpper(d, even, odd));
  hn::StoreU(add_blocks(d, sums), hn::CappedTag<float, 4>(), out);
}
#endif

}  // namespace treadle::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // once for each target
