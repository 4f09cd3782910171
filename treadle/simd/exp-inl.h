// e^x in vectors, for each instruction set that the including file is compiled for.
#if defined(TREADLE_SIMD_EXP_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TREADLE_SIMD_EXP_INL_H
#undef TREADLE_SIMD_EXP_INL_H
#else
#define TREADLE_SIMD_EXP_INL_H
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace treadle::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// e^x for x ≤ 88, within 2 ulp; 0 below -87.33, where the result would be denormal; NaN propagates.
///
/// x = n·ln 2 + r with |r| ≤ ln 2 / 2 and ln 2 in two parts (Cody and Waite, Software Manual for the
/// Elementary Functions, 1980); e^r by its Taylor polynomial of degree 7, whose remainder is below 2^-27; 2^n
/// by the exponent bits.
template <class D>
HWY_INLINE hn::Vec<D> exponential(D d, hn::Vec<D> x) {
  const hn::RebindToSigned<D> integers;
  const auto n = hn::Round(hn::Mul(x, hn::Set(d, 1.44269504f)));
  const auto r = hn::MulAdd(n, hn::Set(d, 2.12194440e-4f), hn::NegMulAdd(n, hn::Set(d, 0.693359375f), x));
  auto p = hn::Set(d, 1.f / 5040);
  for (const float coefficient : {1.f / 720, 1.f / 120, 1.f / 24, 1.f / 6, 0.5f, 1.f, 1.f})
    p = hn::MulAdd(p, r, hn::Set(d, coefficient));
  const auto exponent = hn::Add(hn::ConvertTo(integers, n), hn::Set(integers, 127));
  const auto y = hn::Mul(p, hn::BitCast(d, hn::ShiftLeft<23>(exponent)));
  return hn::IfThenZeroElse(hn::Lt(x, hn::Set(d, -87.33f)), y);
}

}  // namespace treadle::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // once for each target
