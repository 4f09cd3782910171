// Winograd's F(4×4, 3×3), F(2×2, 5×5), and F(3×3, 4×4) for the gradient of filters, along one axis:
// polynomials of the tile's six pixels meet those of the filter at the points 0, ½, -½, 2, -2 and ∞. For each
// instruction set that the including file is compiled for.
//
// The points are those of Barabasz et al., Error Analysis and Improving the Accuracy of Winograd Convolution
// for Deep Neural Networks, 2020: with 1, -1, 2, -2, as by Lavin and Gray, errors can be five times as large.
// All forms share Bᵀ, the transform of the pixels, with the rows
//   1 0 -17/4 0 1 0 · 0 ∓2 -4 ±½ 1 0 · 0 ∓½ -¼ ±2 1 0 · 0 1 0 -17/4 0 1.

#if defined(TREADLE_CPU_WINOGRAD_POINTS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TREADLE_CPU_WINOGRAD_POINTS_INL_H
#undef TREADLE_CPU_WINOGRAD_POINTS_INL_H
#else
#define TREADLE_CPU_WINOGRAD_POINTS_INL_H
#endif

#include <hwy/highway.h>

#include "treadle/ops/conv2d/cpu/winograd_tiles-inl.h"

HWY_BEFORE_NAMESPACE();
namespace treadle::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// even ± factor · odd.
HWY_INLINE void both_signs(Vector even, float factor, Vector odd, Vector* out) {
  const Vector by = hn::Set(Floats(), factor);
  out[0] = hn::MulAdd(by, odd, even);
  out[1] = hn::NegMulAdd(by, odd, even);
}

/// The factors that the rows of G at ±½ and ±2 share: the inverse of the products of a point's distances from
/// the others.
inline constexpr float kHalfShare = -8.0f / 15, kTwoShare = 1.0f / 30;

/// F(4×4, 3×3): six pixels and three taps make four results.
struct FourResults : AllPlaces<6> {
  static constexpr int kTaps = 3, kResults = 4;

  /// Rows of G: 1 0 0 · -8/15 (1 ±½ ¼) · 1/30 (1 ±2 4) · 0 0 1.
  HWY_INLINE static void filter(const Vector* g, Vector* out) {
    const Floats d;
    const Vector half = hn::Set(d, kHalfShare), two = hn::Set(d, kTwoShare);
    out[0] = g[0];
    both_signs(hn::Mul(half, hn::MulAdd(hn::Set(d, 0.25f), g[2], g[0])), 0.5f, hn::Mul(half, g[1]), out + 1);
    both_signs(hn::Mul(two, hn::MulAdd(hn::Set(d, 4), g[2], g[0])), 2, hn::Mul(two, g[1]), out + 3);
    out[5] = g[2];
  }
  HWY_INLINE static void image(const Vector* p, Vector* out) {
    const Floats d;
    const Vector four = hn::Set(d, 4), quarter = hn::Set(d, 0.25f), sum = hn::Set(d, 4.25f);
    out[0] = hn::NegMulAdd(sum, p[2], hn::Add(p[0], p[4]));
    both_signs(hn::NegMulAdd(four, p[2], p[4]), 0.5f, hn::NegMulAdd(four, p[1], p[3]), out + 1);
    both_signs(hn::NegMulAdd(quarter, p[2], p[4]), 2, hn::NegMulAdd(quarter, p[1], p[3]), out + 3);
    out[5] = hn::NegMulAdd(sum, p[3], hn::Add(p[1], p[5]));
  }
  /// Rows of Aᵀ, the powers of the points: 1 1 1 1 1 0 · 0 ½ -½ 2 -2 0 · 0 ¼ ¼ 4 4 0 · 0 ⅛ -⅛ 8 -8 1.
  HWY_INLINE static void result(const Vector* m, Vector* out) {
    const Floats d;
    const Vector half_even = hn::Add(m[1], m[2]), half_odd = hn::Sub(m[1], m[2]),
                 two_even = hn::Add(m[3], m[4]), two_odd = hn::Sub(m[3], m[4]);
    out[0] = hn::Add(m[0], hn::Add(half_even, two_even));
    out[1] = hn::MulAdd(hn::Set(d, 2), two_odd, hn::Mul(hn::Set(d, 0.5f), half_odd));
    out[2] = hn::MulAdd(hn::Set(d, 4), two_even, hn::Mul(hn::Set(d, 0.25f), half_even));
    out[3] = hn::MulAdd(hn::Set(d, 8), two_odd, hn::MulAdd(hn::Set(d, 0.125f), half_odd, m[5]));
  }
};

/// F(2×2, 5×5): six pixels and five taps make two results.
struct TwoResultsOfFiveTaps : AllPlaces<6> {
  static constexpr int kTaps = 5, kResults = 2;

  /// Rows of G: 1 0 0 0 0 · -8/15 (1 ±½ ¼ ±⅛ 1/16) · 1/30 (1 ±2 4 ±8 16) · 0 0 0 0 1.
  HWY_INLINE static void filter(const Vector* g, Vector* out) {
    const Floats d;
    const Vector half = hn::Set(d, kHalfShare), two = hn::Set(d, kTwoShare), quarter = hn::Set(d, 0.25f),
                 four = hn::Set(d, 4);
    const Vector half_even = hn::MulAdd(quarter, hn::MulAdd(quarter, g[4], g[2]), g[0]),
                 two_even = hn::MulAdd(four, hn::MulAdd(four, g[4], g[2]), g[0]);
    out[0] = g[0];
    both_signs(hn::Mul(half, half_even), 0.5f, hn::Mul(half, hn::MulAdd(quarter, g[3], g[1])), out + 1);
    both_signs(hn::Mul(two, two_even), 2, hn::Mul(two, hn::MulAdd(four, g[3], g[1])), out + 3);
    out[5] = g[4];
  }
  HWY_INLINE static void image(const Vector* p, Vector* out) { FourResults::image(p, out); }
  /// Rows of Aᵀ: 1 1 1 1 1 0 · 0 ½ -½ 2 -2 1.
  HWY_INLINE static void result(const Vector* m, Vector* out) {
    const Floats d;
    out[0] = hn::Add(m[0], hn::Add(hn::Add(m[1], m[2]), hn::Add(m[3], m[4])));
    out[1] = hn::MulAdd(hn::Set(d, 2), hn::Sub(m[3], m[4]),
                        hn::MulAdd(hn::Set(d, 0.5f), hn::Sub(m[1], m[2]), m[5]));
  }
};

/// F(3×3, 4×4): six pixels and the gradients of four results make three taps. What G's rows have in common
/// is multiplied into the taps, of which there are fewer.
struct ThreeTaps : AllPlaces<6> {
  static constexpr int kGradients = 4, kTaps = 3;

  HWY_INLINE static void image(const Vector* p, Vector* out) { FourResults::image(p, out); }
  /// Rows 1 0 0 0 · 1 ±½ ¼ ±⅛ · 1 ±2 4 ±8 · 0 0 0 1.
  HWY_INLINE static void gradient(const Vector* g, Vector* out) {
    const Floats d;
    const Vector quarter = hn::Set(d, 0.25f), four = hn::Set(d, 4);
    out[0] = g[0];
    both_signs(hn::MulAdd(quarter, g[2], g[0]), 0.5f, hn::MulAdd(quarter, g[3], g[1]), out + 1);
    both_signs(hn::MulAdd(four, g[2], g[0]), 2, hn::MulAdd(four, g[3], g[1]), out + 3);
    out[5] = g[3];
  }
  /// The powers of the points, times their shares.
  HWY_INLINE static void taps(const Vector* m, Vector* out) {
    const Floats d;
    const Vector half = hn::Set(d, kHalfShare), two = hn::Set(d, kTwoShare);
    const Vector half_even = hn::Mul(half, hn::Add(m[1], m[2])),
                 half_odd = hn::Mul(half, hn::Sub(m[1], m[2])), two_even = hn::Mul(two, hn::Add(m[3], m[4])),
                 two_odd = hn::Mul(two, hn::Sub(m[3], m[4]));
    out[0] = hn::Add(m[0], hn::Add(half_even, two_even));
    out[1] = hn::MulAdd(hn::Set(d, 2), two_odd, hn::Mul(hn::Set(d, 0.5f), half_odd));
    out[2] = hn::MulAdd(hn::Set(d, 4), two_even, hn::MulAdd(hn::Set(d, 0.25f), half_even, m[5]));
  }
};

/// A tile of which two results or gradients at most lie inside the image: F(2×2, 3×3) and F(3×3, 2×2) at 0,
/// ±½ and ∞, four of the points that filters and taps are transformed for, so that both sizes of tile share
/// these. What the points' shares differ by is multiplied into the pixels: -15/4.
struct NarrowTile {
  static constexpr int kSide = 4, kPlaces = FourResults::kSide, kTaps = 3, kResults = 2, kGradients = 2;
  static constexpr int place(int i) { return i < 3 ? i : 5; }

  /// Rows of Bᵀ: 1 0 -4 0 · 0 ∓15/8 -15/4 0 · 0 -¼ 0 1.
  HWY_INLINE static void image(const Vector* p, Vector* out) {
    const Floats d;
    out[0] = hn::NegMulAdd(hn::Set(d, 4), p[2], p[0]);
    both_signs(hn::Mul(hn::Set(d, -3.75f), p[2]), -1.875f, p[1], out + 1);
    out[3] = hn::NegMulAdd(hn::Set(d, 0.25f), p[1], p[3]);
  }
  /// Rows of Aᵀ: 1 1 1 0 · 0 ½ -½ 1.
  HWY_INLINE static void result(const Vector* m, Vector* out) {
    out[0] = hn::Add(m[0], hn::Add(m[1], m[2]));
    out[1] = hn::MulAdd(hn::Set(Floats(), 0.5f), hn::Sub(m[1], m[2]), m[3]);
  }
  /// Rows 1 0 · 1 ±½ · 0 1.
  HWY_INLINE static void gradient(const Vector* g, Vector* out) {
    out[0] = g[0];
    both_signs(g[0], 0.5f, g[1], out + 1);
    out[3] = g[1];
  }
};

/// Calls run(down, across) for what a task's tiles are along columns and along rows, narrow or `Whole`.
template <class Whole = FourResults, class Task, class Run>
HWY_INLINE void with_tile(const Task& task, Run run) {
  if (task.narrow_rows)
    task.narrow_columns ? run(NarrowTile(), NarrowTile()) : run(NarrowTile(), Whole());
  else
    task.narrow_columns ? run(Whole(), NarrowTile()) : run(Whole(), Whole());
}

}  // namespace treadle::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // once for each target
