// Transposes of small squares within registers, for each instruction set that the including file is compiled
// for.
#include <cstdint>

#if defined(TREADLE_SIMD_TRANSPOSE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TREADLE_SIMD_TRANSPOSE_INL_H
#undef TREADLE_SIMD_TRANSPOSE_INL_H
#else
#define TREADLE_SIMD_TRANSPOSE_INL_H
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace treadle::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR
constexpr int64_t kTransposedFloats = 1, kTransposedBytes = 1;
template <class T>
HWY_INLINE void transpose_square(const T* from, int64_t, T* to, int64_t) {
  *to = *from;
}
#else
constexpr int64_t kTransposedFloats = 4, kTransposedBytes = 8;

/// Rows of four.
HWY_INLINE void transpose_square(const float* HWY_RESTRICT from, int64_t from_step, float* HWY_RESTRICT to,
                                 int64_t to_step) {
  const hn::Full128<float> d;
  const auto a = hn::LoadU(d, from), b = hn::LoadU(d, from + from_step),
             c = hn::LoadU(d, from + 2 * from_step), e = hn::LoadU(d, from + 3 * from_step);
  const auto ab = hn::InterleaveLower(d, a, b), ce = hn::InterleaveLower(d, c, e);
  hn::StoreU(hn::ConcatLowerLower(d, ce, ab), d, to);
  hn::StoreU(hn::ConcatUpperUpper(d, ce, ab), d, to + to_step);
  const auto ab_upper = hn::InterleaveUpper(d, a, b), ce_upper = hn::InterleaveUpper(d, c, e);
  hn::StoreU(hn::ConcatLowerLower(d, ce_upper, ab_upper), d, to + 2 * to_step);
  hn::StoreU(hn::ConcatUpperUpper(d, ce_upper, ab_upper), d, to + 3 * to_step);
}

/// Rows of eight: pairs of rows meet as bytes, then as pairs, then as fours.
HWY_INLINE void transpose_square(const uint8_t* HWY_RESTRICT from, int64_t from_step,
                                 uint8_t* HWY_RESTRICT to, int64_t to_step) {
  const hn::Full64<uint8_t> bytes;
  const hn::Full64<uint16_t> pairs;
  const hn::Full64<uint32_t> fours;
  hn::Vec<hn::Full64<uint16_t> > two[4][2];
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    const auto even = hn::LoadU(bytes, from + 2 * i * from_step),
               odd = hn::LoadU(bytes, from + (2 * i + 1) * from_step);
    two[i][0] = hn::BitCast(pairs, hn::InterleaveLower(bytes, even, odd));
    two[i][1] = hn::BitCast(pairs, hn::InterleaveUpper(bytes, even, odd));
  }
#pragma GCC unroll 2
  for (int half = 0; half < 2; ++half) {
    auto store = [&](auto first, auto second, int64_t row) HWY_ATTR {
      const auto a = hn::BitCast(fours, first), b = hn::BitCast(fours, second);
      hn::StoreU(hn::BitCast(bytes, hn::InterleaveLower(fours, a, b)), bytes, to + row * to_step);
      hn::StoreU(hn::BitCast(bytes, hn::InterleaveUpper(fours, a, b)), bytes, to + (row + 1) * to_step);
    };
    store(hn::InterleaveLower(pairs, two[0][half], two[1][half]),
          hn::InterleaveLower(pairs, two[2][half], two[3][half]), half * 4);
    store(hn::InterleaveUpper(pairs, two[0][half], two[1][half]),
          hn::InterleaveUpper(pairs, two[2][half], two[3][half]), half * 4 + 2);
  }
}
#endif

/// Copies [rows, columns] to its transpose, square by square; steps lie between rows.
template <class T, int64_t Side>
HWY_INLINE void transpose_squares(const T* HWY_RESTRICT from, int64_t from_step, int64_t rows,
                                  int64_t columns, T* HWY_RESTRICT to, int64_t to_step) {
  const int64_t whole_rows = rows / Side * Side, whole_columns = columns / Side * Side;
  for (int64_t i = 0; i < whole_rows; i += Side)
    for (int64_t j = 0; j < whole_columns; j += Side)
      transpose_square(from + i * from_step + j, from_step, to + j * to_step + i, to_step);
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = i < whole_rows ? whole_columns : 0; j < columns; ++j)
      to[j * to_step + i] = from[i * from_step + j];
}

}  // namespace treadle::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // once for each target
