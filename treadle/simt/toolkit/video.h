/// CUDA's SIMD instructions on four bytes or two halves of a word: __vadd4 and its kin.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <type_traits>

#include "treadle/simt/target.h"

namespace treadle::TREADLE_TARGET {
namespace toolkit {

/// f of each part of a and b, of the type T, put together.
template <class T, class F>
constexpr unsigned for_each_part(unsigned a, unsigned b, F f) {
  constexpr unsigned kBits = sizeof(T) * 8, kMask = (1u << kBits) - 1;
  unsigned result = 0;
  for (unsigned shift = 0; shift < 32; shift += kBits)
    result |= (static_cast<unsigned>(f(static_cast<T>(a >> shift), static_cast<T>(b >> shift))) & kMask)
              << shift;
  return result;
}

template <class T>
constexpr int saturated_to(int x) {
  constexpr int kBits = sizeof(T) * 8;
  constexpr int kMost = std::is_signed_v<T> ? (1 << (kBits - 1)) - 1 : (1 << kBits) - 1;
  constexpr int kLeast = std::is_signed_v<T> ? -kMost - 1 : 0;
  return x < kLeast ? kLeast : x > kMost ? kMost : x;
}

}  // namespace toolkit

inline namespace cuda_names {

// clang-format off
#define TREADLE_VIDEO(name, T, formula) \
  constexpr unsigned name(unsigned a, unsigned b) { return toolkit::for_each_part<T>(a, b, [](int x, int y) { return formula; }); }
#define TREADLE_VIDEO_ONE(name, T, formula) \
  constexpr unsigned name(unsigned a) { return toolkit::for_each_part<T>(a, a, [](int x, int) { return formula; }); }
// __vcmp sets all bits of a part, __vset its lowest.
#define TREADLE_VIDEO_COMPARE(width, word, S, T, relation)                  \
  TREADLE_VIDEO(__vcmp##word##width, T, (x relation y ? -1 : 0))            \
  TREADLE_VIDEO(__vset##word##width, T, (x relation y ? 1 : 0))
#define TREADLE_VIDEO_OF_WIDTH(width, S, U)                                             \
  TREADLE_VIDEO(__vadd##width, U, (x + y))                                              \
  TREADLE_VIDEO(__vaddss##width, S, (toolkit::saturated_to<S>(x + y)))                  \
  TREADLE_VIDEO(__vaddus##width, U, (toolkit::saturated_to<U>(x + y)))                  \
  TREADLE_VIDEO(__vsub##width, U, (x - y))                                              \
  TREADLE_VIDEO(__vsubss##width, S, (toolkit::saturated_to<S>(x - y)))                  \
  TREADLE_VIDEO(__vsubus##width, U, (toolkit::saturated_to<U>(x - y)))                  \
  TREADLE_VIDEO(__vabsdiffs##width, S, (x < y ? y - x : x - y))                         \
  TREADLE_VIDEO(__vabsdiffu##width, U, (x < y ? y - x : x - y))                         \
  TREADLE_VIDEO(__vavgs##width, S, ((x + y + (x + y >= 0)) >> 1))                       \
  TREADLE_VIDEO(__vavgu##width, U, ((x + y + 1) >> 1))                                  \
  TREADLE_VIDEO(__vhaddu##width, U, ((x + y) >> 1))                                     \
  TREADLE_VIDEO(__vmaxs##width, S, (x < y ? y : x))                                     \
  TREADLE_VIDEO(__vmaxu##width, U, (x < y ? y : x))                                     \
  TREADLE_VIDEO(__vmins##width, S, (x < y ? x : y))                                     \
  TREADLE_VIDEO(__vminu##width, U, (x < y ? x : y))                                     \
  TREADLE_VIDEO_ONE(__vabs##width, S, (x < 0 ? -x : x))                                 \
  TREADLE_VIDEO_ONE(__vabsss##width, S, (toolkit::saturated_to<S>(x < 0 ? -x : x)))     \
  TREADLE_VIDEO_ONE(__vneg##width, S, (-x))                                             \
  TREADLE_VIDEO_ONE(__vnegss##width, S, (toolkit::saturated_to<S>(-x)))                 \
  TREADLE_VIDEO_COMPARE(width, eq, S, U, ==)                                            \
  TREADLE_VIDEO_COMPARE(width, ne, S, U, !=)                                            \
  TREADLE_VIDEO_COMPARE(width, ges, S, S, >=)                                           \
  TREADLE_VIDEO_COMPARE(width, geu, S, U, >=)                                           \
  TREADLE_VIDEO_COMPARE(width, gts, S, S, >)                                            \
  TREADLE_VIDEO_COMPARE(width, gtu, S, U, >)                                            \
  TREADLE_VIDEO_COMPARE(width, les, S, S, <=)                                           \
  TREADLE_VIDEO_COMPARE(width, leu, S, U, <=)                                           \
  TREADLE_VIDEO_COMPARE(width, lts, S, S, <)                                            \
  TREADLE_VIDEO_COMPARE(width, ltu, S, U, <)
TREADLE_VIDEO_OF_WIDTH(2, int16_t, uint16_t)
TREADLE_VIDEO_OF_WIDTH(4, int8_t, uint8_t)
#undef TREADLE_VIDEO_OF_WIDTH
#undef TREADLE_VIDEO_COMPARE
#undef TREADLE_VIDEO_ONE
#undef TREADLE_VIDEO
// clang-format on

/// Sums of absolute differences of the parts.
#define TREADLE_VIDEO_SUM(name, differences, T)                                                         \
  constexpr unsigned name(unsigned a, unsigned b) {                                                     \
    const unsigned parts = differences(a, b);                                                           \
    unsigned sum = 0;                                                                                   \
    for (unsigned shift = 0; shift < 32; shift += sizeof(T) * 8) sum += static_cast<T>(parts >> shift); \
    return sum;                                                                                         \
  }
TREADLE_VIDEO_SUM(__vsads2, __vabsdiffs2, uint16_t)
TREADLE_VIDEO_SUM(__vsadu2, __vabsdiffu2, uint16_t)
TREADLE_VIDEO_SUM(__vsads4, __vabsdiffs4, uint8_t)
TREADLE_VIDEO_SUM(__vsadu4, __vabsdiffu4, uint8_t)
#undef TREADLE_VIDEO_SUM

}  // namespace cuda_names
}  // namespace treadle::TREADLE_TARGET
