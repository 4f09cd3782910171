#include "treadle/ops/conv2d/cpu/direct_rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "treadle/ops/conv2d/cpu/direct_rows.cpp"
#include "treadle/simd/targets.h"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

HWY_BEFORE_NAMESPACE();
namespace treadle::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::CappedTag<float, kDirectFilters>;
using Vector = hn::Vec<Floats>;
constexpr int64_t kLanes = int64_t(hn::MaxLanes(Floats()));

/// Windows whose sums of two vectors of filters, with both and an element of the window, registers hold.
constexpr int kMostWindows = kLanes == 16 ? 8 : 6;

/// `Windows` results from q on, of filters [k, k + Vectors·kLanes).
template <int Windows, int Vectors>
HWY_INLINE void results(const DirectRow& o, int64_t q, int64_t k) {
  const Floats d;
  Vector sums[Windows][Vectors];
#pragma GCC unroll 2
  for (int v = 0; v < Vectors; ++v) {
    const Vector bias = hn::LoadU(d, o.bias + k + v * kLanes);
#pragma GCC unroll 8
    for (int i = 0; i < Windows; ++i) sums[i][v] = bias;
  }
  const float* HWY_RESTRICT w = o.w + k;
  for (int64_t r = 0; r < o.R; ++r) {
    const float* HWY_RESTRICT x = o.rows + r * o.row + q * o.step;
    for (int64_t j = 0; j < o.length; ++j, ++x, w += o.padded) {
      Vector filters[Vectors];
#pragma GCC unroll 2
      for (int v = 0; v < Vectors; ++v) filters[v] = hn::LoadU(d, w + v * kLanes);
#pragma GCC unroll 8
      for (int i = 0; i < Windows; ++i) {
        const Vector element = hn::Set(d, x[i * o.step]);
#pragma GCC unroll 2
        for (int v = 0; v < Vectors; ++v) sums[i][v] = hn::MulAdd(element, filters[v], sums[i][v]);
      }
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < Windows; ++i)
#pragma GCC unroll 2
    for (int v = 0; v < Vectors; ++v) {
      const int64_t first = k + v * kLanes, count = HWY_MIN(kLanes, HWY_MAX(o.K - first, 0));
      Vector sum = sums[i][v];
      if (o.relu) sum = hn::IfThenZeroElse(hn::Le(sum, hn::Zero(d)), sum);  // NaN stays
      float* const y = o.y + (q + i) * o.K + first;
      if (count == kLanes) {
        hn::StoreU(sum, d, y);
      } else {
        HWY_ALIGN float some[kLanes];
        hn::Store(sum, d, some);
        std::copy_n(some, count, y);
      }
    }
}

/// All filters of some windows.
template <int Windows>
void windows(const DirectRow& o, int64_t q) {
  int64_t k = 0;
  for (; k + kLanes < o.K; k += 2 * kLanes) results<Windows, 2>(o, q, k);
  if (k < o.K) results<Windows, 1>(o, q, k);
}

/// Tiles of so many windows; the last one may do some of the one before again.
template <int Windows>
void in_tiles(const DirectRow& o) {
  for (int64_t q = 0; q < o.Q; q += Windows) windows<Windows>(o, HWY_MIN(q, o.Q - Windows));
}

constexpr int64_t in_whole(int64_t count, int64_t tile) { return (count + tile - 1) / tile * tile; }

void run_row(const DirectRow& o) {
  int best = 1;
  for (int tile = HWY_MIN(int(o.Q), kMostWindows); tile >= 4; --tile)
    if (best == 1 || in_whole(o.Q, tile) < in_whole(o.Q, best)) best = tile;
  switch (best) {
    case 8:
      if constexpr (kMostWindows >= 8) return in_tiles<8>(o);
      break;
    case 7:
      if constexpr (kMostWindows >= 7) return in_tiles<7>(o);
      break;
    case 6:
      return in_tiles<6>(o);
    case 5:
      return in_tiles<5>(o);
    case 4:
      return in_tiles<4>(o);
    default:
      return in_tiles<1>(o);
  }
}

}  // namespace treadle::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace treadle::cpu {
namespace {

HWY_EXPORT(run_row);

}  // namespace

void direct_row(const DirectRow& row) { HWY_DYNAMIC_DISPATCH(run_row)(row); }

}  // namespace treadle::cpu
#endif
