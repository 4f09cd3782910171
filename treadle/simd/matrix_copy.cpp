#include "treadle/simd/matrix_copy.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "treadle/simd/matrix_copy.cpp"
#include "treadle/simd/targets.h"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace treadle::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR

template <class T>
struct SingleElement {
  using Element = T;
  static constexpr int64_t kSize = 1;
  HWY_INLINE static void transpose(const T* in, int64_t, T* out, int64_t) { *out = *in; }
};
using FloatBlock = SingleElement<float>;
using ByteBlock = SingleElement<uint8_t>;

#else

/// A block of 4 × 4 floats, by way of 128-bit vectors on every instruction set.
struct FloatBlock {
  using Element = float;
  static constexpr int64_t kSize = 4;

  HWY_INLINE static void transpose(const float* in, int64_t in_step, float* out, int64_t out_step) {
    const hn::Full128<float> d;
    const hn::Full128<double> pairs;
    const auto a = hn::LoadU(d, in), b = hn::LoadU(d, in + in_step);
    const auto c = hn::LoadU(d, in + 2 * in_step), e = hn::LoadU(d, in + 3 * in_step);
    const auto ab_low = hn::BitCast(pairs, hn::InterleaveLower(d, a, b)),
               ab_high = hn::BitCast(pairs, hn::InterleaveUpper(d, a, b)),
               ce_low = hn::BitCast(pairs, hn::InterleaveLower(d, c, e)),
               ce_high = hn::BitCast(pairs, hn::InterleaveUpper(d, c, e));
    hn::StoreU(hn::BitCast(d, hn::InterleaveLower(pairs, ab_low, ce_low)), d, out);
    hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(pairs, ab_low, ce_low)), d, out + out_step);
    hn::StoreU(hn::BitCast(d, hn::InterleaveLower(pairs, ab_high, ce_high)), d, out + 2 * out_step);
    hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(pairs, ab_high, ce_high)), d, out + 3 * out_step);
  }
};

/// A block of 8 × 8 bytes.
struct ByteBlock {
  using Element = uint8_t;
  static constexpr int64_t kSize = 8;

  HWY_INLINE static void transpose(const uint8_t* in, int64_t in_step, uint8_t* out, int64_t out_step) {
    const hn::Full128<uint8_t> d;
    const hn::Full64<uint8_t> half;
    const hn::Full128<uint16_t> pairs;
    const hn::Full128<uint32_t> quads;
    hn::Vec<hn::Full128<uint16_t> > two_rows[4];
    for (int i = 0; i < 4; ++i) {
      const auto first = hn::LoadU(half, in + 2 * i * in_step),
                 second = hn::LoadU(half, in + (2 * i + 1) * in_step);
      two_rows[i] = hn::BitCast(
          pairs, hn::InterleaveLower(d, hn::ZeroExtendVector(d, first), hn::ZeroExtendVector(d, second)));
    }
    for (int upper = 0; upper < 2; ++upper) {
      auto four_rows = [&](int i) {
        return hn::BitCast(quads, upper ? hn::InterleaveUpper(pairs, two_rows[i], two_rows[i + 1])
                                        : hn::InterleaveLower(pairs, two_rows[i], two_rows[i + 1]));
      };
      const auto top = four_rows(0), bottom = four_rows(2);
      const auto low = hn::BitCast(d, hn::InterleaveLower(quads, top, bottom)),
                 high = hn::BitCast(d, hn::InterleaveUpper(quads, top, bottom));
      uint8_t* to = out + 4 * upper * out_step;
      hn::StoreU(hn::LowerHalf(half, low), half, to);
      hn::StoreU(hn::UpperHalf(half, low), half, to + out_step);
      hn::StoreU(hn::LowerHalf(half, high), half, to + 2 * out_step);
      hn::StoreU(hn::UpperHalf(half, high), half, to + 3 * out_step);
    }
  }
};

#endif

template <class Block, class T = typename Block::Element>
void transpose_in_blocks(int64_t rows, int64_t columns, const T* HWY_RESTRICT in, int64_t in_step,
                         T* HWY_RESTRICT out, int64_t out_step) {
  constexpr int64_t kSize = Block::kSize;
  const int64_t whole_rows = rows / kSize * kSize, whole_columns = columns / kSize * kSize;
  for (int64_t i = 0; i < whole_rows; i += kSize)
    for (int64_t j = 0; j < whole_columns; j += kSize)
      Block::transpose(in + i * in_step + j, in_step, out + j * out_step + i, out_step);
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = i < whole_rows ? whole_columns : 0; j < columns; ++j)
      out[j * out_step + i] = in[i * in_step + j];
}

void transpose_floats(int64_t rows, int64_t columns, const float* in, int64_t in_step, float* out,
                      int64_t out_step) {
  transpose_in_blocks<FloatBlock>(rows, columns, in, in_step, out, out_step);
}

void transpose_bytes(int64_t rows, int64_t columns, const uint8_t* in, int64_t in_step, uint8_t* out,
                     int64_t out_step) {
  transpose_in_blocks<ByteBlock>(rows, columns, in, in_step, out, out_step);
}

void copy_short_rows(int64_t rows, int64_t columns, const float* HWY_RESTRICT in, int64_t in_step,
                     float* HWY_RESTRICT out, int64_t out_step) {
  const hn::ScalableTag<float> d;
  const int64_t lanes = int64_t(hn::Lanes(d));
  if (columns == lanes) {  // without an inner loop, which compilers turn into a call of memcpy
    for (int64_t i = 0; i < rows; ++i) hn::StoreU(hn::LoadU(d, in + i * in_step), d, out + i * out_step);
    return;
  }
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j) out[i * out_step + j] = in[i * in_step + j];
}

}  // namespace treadle::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace treadle::cpu {
namespace {

HWY_EXPORT(transpose_floats);
HWY_EXPORT(transpose_bytes);
HWY_EXPORT(copy_short_rows);

}  // namespace

void transpose(int64_t rows, int64_t columns, const float* in, int64_t in_step, float* out,
               int64_t out_step) {
  HWY_DYNAMIC_DISPATCH(transpose_floats)(rows, columns, in, in_step, out, out_step);
}

void transpose(int64_t rows, int64_t columns, const uint8_t* in, int64_t in_step, uint8_t* out,
               int64_t out_step) {
  HWY_DYNAMIC_DISPATCH(transpose_bytes)(rows, columns, in, in_step, out, out_step);
}

void copy_rows(int64_t rows, int64_t columns, const float* in, int64_t in_step, float* out,
               int64_t out_step) {
  HWY_DYNAMIC_DISPATCH(copy_short_rows)(rows, columns, in, in_step, out, out_step);
}

}  // namespace treadle::cpu
#endif
