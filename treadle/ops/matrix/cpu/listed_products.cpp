#include "treadle/ops/matrix/cpu/listed_products.h"

#include <hwy/cache_control.h>

#include <algorithm>
#include <type_traits>

#include "treadle/simd/matrix_copy.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "treadle/ops/matrix/cpu/listed_products.cpp"
#include "treadle/simd/targets.h"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "treadle/simd/lanes-inl.h"

#ifndef TREADLE_CPU_LISTED_PRODUCTS_ONCE
#define TREADLE_CPU_LISTED_PRODUCTS_ONCE
namespace treadle::cpu {

constexpr int64_t kDepth = 64;       ///< inputs per pass of multiply_listed: their rows of w stay in L1
constexpr int64_t kRows = 64;        ///< rows of x that are listed at a time
constexpr int64_t kPackedRows = 16;  ///< from so many rows on, packing rows of w pays
constexpr int64_t kFewRows = 3;      ///< up to so many rows of x, each goes through w on its own
constexpr int64_t kFewDepth = 512;   ///< inputs per pass then
constexpr int64_t kAhead = 6;        ///< entries ahead of which rows of w are fetched where they lie
constexpr int64_t kUnroll = 4;       ///< entries per turn of a loop over packed rows
constexpr int64_t kGroup = 16;       ///< inputs that the gradients list at a time: a cache line of a row of x
constexpr int64_t kInputs = 64;      ///< inputs whose rows of w stay in L2
constexpr int64_t kRowsAhead = 4;    ///< whole rows that are fetched ahead
constexpr int64_t kSlack = 16;       ///< entries that a vector may write beyond the end of a list
constexpr int64_t kLine = 16;        ///< floats of a cache line

constexpr int64_t kFewScratch = 2 * (kFewDepth + kSlack);
constexpr int64_t kLongestStrip = 8 * 16;
constexpr int64_t list_row_length(int64_t N) { return (N + 7) / 8 * 8 + kSlack; }

/// Elements of x that are not zero, and where the rows that they meet begin.
struct List {
  int32_t* offsets;
  float* values;
  int64_t count;
};

}  // namespace treadle::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace treadle::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::ScalableTag<float>;
using Single = hn::CappedTag<float, 1>;
using Vector = hn::Vec<Floats>;
constexpr int64_t kLanes = int64_t(hn::MaxLanes(Floats{}));
constexpr int64_t kStrip = 8 * kLanes;  ///< floats from row to row of packed rows
constexpr int kSums = 8;                ///< vectors of sums: enough to hide the latency of multiply-adds

/// Which elements of x are listed: those that are not zero, or those that an open ReLU gave; NaN is of both.
enum class Listed { nonzero, open };

/// Appends those elements of x; element k meets the row at k·step. Writes up to kSlack entries beyond the
/// end.
template <Listed kind = Listed::nonzero>
HWY_INLINE void append_listed(const float* HWY_RESTRICT x, int64_t count, int64_t step, List& list) {
  const Floats d;
  const hn::RebindToSigned<Floats> di;
  int64_t k = 0, size = list.count;
  auto offsets = hn::Mul(hn::Iota(di, 0), hn::Set(di, int32_t(step)));
  const auto ahead = hn::Set(di, int32_t(step * kLanes));
  for (; k + kLanes <= count; k += kLanes) {
    const auto values = hn::LoadU(d, x + k);
    // Not what is left out, as comparisons are false for NaN.
    const auto left_out = kind == Listed::open ? hn::Le(values, hn::Zero(d)) : hn::Eq(values, hn::Zero(d));
    size += store_listed(values, offsets, hn::Not(left_out), list.values + size, list.offsets + size);
    offsets = hn::Add(offsets, ahead);
  }
  for (; k < count; ++k) {
    list.offsets[size] = int32_t(k * step), list.values[size] = x[k];
    size += !(kind == Listed::open ? x[k] <= 0 : x[k] == 0);
  }
  list.count = size;
}

/// Calls with(column, tag, number of vectors as a constant) for chunks that cover `columns`, the last ones
/// element by element.
template <class With>
HWY_INLINE void for_each_chunk(int64_t columns, With with) {
  int64_t j = 0;
  auto cover = [&](auto d, auto vectors) HWY_ATTR {
    const int64_t width = vectors.value * int64_t(hn::MaxLanes(d));
    for (; j + width <= columns; j += width) with(j, d, vectors);
  };
  cover(Floats{}, std::integral_constant<int, kSums>{});
  cover(Floats{}, std::integral_constant<int, 4>{});
  cover(Floats{}, std::integral_constant<int, 2>{});
  cover(Floats{}, std::integral_constant<int, 1>{});
  if constexpr (kLanes > 1) {
    cover(Single{}, std::integral_constant<int, 4>{});
    cover(Single{}, std::integral_constant<int, 1>{});
  }
}

/// sums[v] += Σ x·row over the entries of a list; rows begin at `rows` + offset. Lists are multiples of
/// kUnroll long, so that their ends are easier to foresee.
template <class D, int Vectors>
HWY_INLINE void add_rows(D d, const List& list, const float* HWY_RESTRICT rows, hn::Vec<D> (&sums)[Vectors]) {
  constexpr int64_t lanes = int64_t(hn::MaxLanes(D{}));
  for (int64_t e = 0; e < list.count; e += kUnroll)
#pragma GCC unroll 4
    for (int64_t u = 0; u < kUnroll; ++u) {
      const auto x = hn::Set(d, list.values[e + u]);
      const float* HWY_RESTRICT row = rows + list.offsets[e + u];
#pragma GCC unroll 8
      for (int v = 0; v < Vectors; ++v) sums[v] = hn::MulAdd(x, hn::LoadU(d, row + v * lanes), sums[v]);
    }
}

/// The same for rows that are not in the nearest cache, and a list of any length.
template <class D, int Vectors>
HWY_INLINE void add_distant_rows(D d, const List& list, const float* HWY_RESTRICT rows,
                                 hn::Vec<D> (&sums)[Vectors]) {
  constexpr int64_t lanes = int64_t(hn::MaxLanes(D{}));
  for (int64_t e = 0; e < list.count; ++e) {
    const float* HWY_RESTRICT ahead = rows + list.offsets[e + kAhead];
#pragma GCC unroll 8
    for (int64_t i = 0; i < Vectors * lanes; i += kLine) hwy::Prefetch(ahead + i);
    const auto x = hn::Set(d, list.values[e]);
    const float* HWY_RESTRICT row = rows + list.offsets[e];
#pragma GCC unroll 8
    for (int v = 0; v < Vectors; ++v) sums[v] = hn::MulAdd(x, hn::LoadU(d, row + v * lanes), sums[v]);
  }
}

/// Fills the list up to a multiple of kUnroll with entries that add nothing.
HWY_INLINE void pad_list(List& list, int64_t zero_row) {
  for (int64_t u = 0; u < kUnroll; ++u)
    list.offsets[list.count + u] = int32_t(zero_row), list.values[list.count + u] = 0;
  list.count = (list.count + kUnroll - 1) / kUnroll * kUnroll;
}

/// Names the last entry's row again behind the end of the list, for loops that look ahead.
HWY_INLINE void repeat_last(List& list, int64_t times) {
  std::fill_n(list.offsets + list.count, times, list.count > 0 ? list.offsets[list.count - 1] : 0);
}

/// Copies the vectors of `count` rows to rows kStrip apart, and a row of zeros behind them.
template <class D, int Vectors>
HWY_INLINE void pack_rows(D d, const float* from, int64_t row, int64_t count, float* HWY_RESTRICT to) {
  constexpr int64_t lanes = int64_t(hn::MaxLanes(D{}));
  for (int64_t i = 0; i < count; ++i, from += row, to += kStrip)
#pragma GCC unroll 8
    for (int v = 0; v < Vectors; ++v) hn::StoreU(hn::LoadU(d, from + v * lanes), d, to + v * lanes);
  std::fill_n(to, kStrip, 0.0f);
}

// ---- y = x·w + bias ---------------------------------------------------------------------------------------

/// Some inputs, and whether they begin or end the sums.
struct Pass {
  int64_t first, depth;
  bool begins, ends;
};

template <bool Distant, class D, int Vectors>
HWY_INLINE void multiply_chunk(D d, const ListedProduct& p, const Pass& pass, const List& list,
                               const float* rows, int64_t column, float* HWY_RESTRICT y) {
  constexpr int64_t lanes = int64_t(hn::MaxLanes(D{}));
  hn::Vec<D> sums[Vectors];
  const float* from = pass.begins ? (p.bias ? p.bias + column : nullptr) : y;
#pragma GCC unroll 8
  for (int v = 0; v < Vectors; ++v) sums[v] = from ? hn::LoadU(d, from + v * lanes) : hn::Zero(d);
  if constexpr (Distant)
    add_distant_rows<D, Vectors>(d, list, rows, sums);
  else
    add_rows<D, Vectors>(d, list, rows, sums);
#pragma GCC unroll 8
  for (int v = 0; v < Vectors; ++v) {
    if (pass.ends && p.relu) sums[v] = hn::IfThenZeroElse(hn::Le(sums[v], hn::Zero(d)), sums[v]);
    hn::StoreU(sums[v], d, y + v * lanes);
  }
}

/// A block of rows of x, Depth inputs per pass. Rows of w are packed, or read where they lie and fetched
/// ahead.
template <bool Pack, int64_t Depth>
void multiply_rows_of_x(const ListedProduct& p, int64_t first, int64_t rows, float* scratch) {
  constexpr int64_t kListed = Depth + kSlack;
  List lists[kRows];
  float* packed = scratch;
  if constexpr (Pack) scratch += (Depth + 1) * kStrip;
  for (int64_t n = 0; n < rows; ++n, scratch += 2 * kListed)
    lists[n] = {reinterpret_cast<int32_t*>(scratch), scratch + kListed, 0};
  for (int64_t k = 0; k == 0 || k < p.in; k += Depth) {
    const Pass pass{k, std::min(Depth, p.in - k), k == 0, k + Depth >= p.in};
    for (int64_t n = 0; n < rows; ++n) {
      lists[n].count = 0;
      append_listed(p.x + (first + n) * p.x_row + k, pass.depth, Pack ? kStrip : p.w_row, lists[n]);
      if constexpr (Pack)
        pad_list(lists[n], pass.depth * kStrip);
      else
        repeat_last(lists[n], kAhead);
    }
    const float* w = p.w + k * p.w_row;
    for_each_chunk(p.out, [&](int64_t j, auto d, auto vectors) HWY_ATTR {
      if constexpr (Pack) pack_rows<decltype(d), vectors.value>(d, w + j, p.w_row, pass.depth, packed);
      for (int64_t n = 0; n < rows; ++n)
        multiply_chunk<!Pack, decltype(d), vectors.value>(d, p, pass, lists[n], Pack ? packed : w + j, j,
                                                          p.y + (first + n) * p.y_row + j);
    });
  }
}

void multiply_listed(const ListedProduct& p, float* scratch) {
  const int64_t step = p.N <= kFewRows ? 1 : kRows;
  for (int64_t n = 0; n < p.N; n += step) {
    const int64_t rows = std::min(step, p.N - n);
    if (p.N <= kFewRows)
      multiply_rows_of_x<false, kFewDepth>(p, n, rows, scratch);
    else if (rows < kPackedRows)
      multiply_rows_of_x<false, kDepth>(p, n, rows, scratch);
    else
      multiply_rows_of_x<true, kDepth>(p, n, rows, scratch);
  }
}

// ---- Lists by input ---------------------------------------------------------------------------------------

/// For each of a group of inputs, the elements of x that are listed.
struct Lists {
  float* columns;  ///< those of x, as rows
  int64_t row;     ///< floats per column
  List list[kGroup];

  Lists(float* scratch, int64_t N) : columns(scratch), row(list_row_length(N)) {
    scratch += kGroup * row;
    for (List& one : list) {
      one = {reinterpret_cast<int32_t*>(scratch), scratch + row, 0};
      scratch += 2 * row;
    }
  }
};

/// Lists columns [first, first + count) of x.
template <Listed kind = Listed::nonzero>
HWY_INLINE void list_columns(const ListedGradient& p, int64_t first, int64_t count, int64_t step,
                             Lists& lists) {
  transpose(p.N, count, p.x + first, p.x_row, lists.columns, lists.row);
  for (int64_t i = 0; i < count; ++i) {
    lists.list[i].count = 0;
    append_listed<kind>(lists.columns + i * lists.row, p.N, step, lists.list[i]);
  }
}

// ---- dw = xᵀ·dy -------------------------------------------------------------------------------------------

template <class D>
struct Update {
  hn::Vec<D> rate, weight_decay;
  HWY_INLINE Update(D d, const ListedTarget& target)
      : rate(hn::Set(d, target.rate)), weight_decay(hn::Set(d, target.weight_decay)) {}
  HWY_INLINE hn::Vec<D> operator()(hn::Vec<D> value, hn::Vec<D> gradient) const {
    return hn::Sub(value, hn::Mul(rate, hn::Add(gradient, hn::Mul(weight_decay, value))));
  }
};

template <class D, int Vectors>
HWY_INLINE void make_sums(D d, const List& list, const float* rows, const ListedTarget& target,
                          float* HWY_RESTRICT w) {
  constexpr int64_t lanes = int64_t(hn::MaxLanes(D{}));
  hn::Vec<D> sums[Vectors];
#pragma GCC unroll 8
  for (int v = 0; v < Vectors; ++v) sums[v] = hn::Zero(d);
  add_rows<D, Vectors>(d, list, rows, sums);
  if (target.update) {
    const Update<D> update(d, target);
#pragma GCC unroll 8
    for (int v = 0; v < Vectors; ++v) sums[v] = update(hn::LoadU(d, w + v * lanes), sums[v]);
  }
#pragma GCC unroll 8
  for (int v = 0; v < Vectors; ++v) hn::StoreU(sums[v], d, w + v * lanes);
}

/// row = x·dy, or the update by it, without weight decay.
template <class D>
HWY_INLINE void finish_row(D d, float x, const float* HWY_RESTRICT dy, int64_t begin, int64_t end,
                           const ListedTarget& target, float* HWY_RESTRICT row) {
  const auto factor = hn::Set(d, x), rate = hn::Set(d, target.rate);
  if (target.update)
    for (int64_t j = begin; j < end; j += int64_t(hn::MaxLanes(d))) {
      const auto step = hn::Mul(rate, hn::Mul(factor, hn::LoadU(d, dy + j)));
      hn::StoreU(hn::Sub(hn::LoadU(d, row + j), step), d, row + j);
    }
  else
    for (int64_t j = begin; j < end; j += int64_t(hn::MaxLanes(d)))
      hn::StoreU(hn::Mul(factor, hn::LoadU(d, dy + j)), d, row + j);
}

/// One row of x: each row of w meets one product.
void weight_gradient_of_row(const ListedGradient& p, const ListedTarget& target, float* scratch) {
  List list{reinterpret_cast<int32_t*>(scratch), scratch + kFewDepth + kSlack, 0};
  const int64_t whole = p.out / kLanes * kLanes;
  for (int64_t k = 0; k < p.in; k += kFewDepth) {
    const int64_t depth = std::min(kFewDepth, p.in - k);
    float* const w = target.w + k * target.w_row;
    if (!target.update)
      for (int64_t i = 0; i < depth; ++i) std::fill_n(w + i * target.w_row, p.out, 0.0f);
    list.count = 0;
    append_listed(p.x + k, depth, target.w_row, list);
    repeat_last(list, kRowsAhead);
    for (int64_t e = 0; e < list.count; ++e) {
      float* row = w + list.offsets[e];
      for (int64_t j = 0; j < p.out; j += kLine) hwy::Prefetch(w + list.offsets[e + kRowsAhead] + j);
      finish_row(Floats{}, list.values[e], p.dy, 0, whole, target, row);
      finish_row(Single{}, list.values[e], p.dy, whole, p.out, target, row);
    }
  }
}

void listed_weight_gradient(const ListedGradient& p, const ListedTarget& target, float* scratch) {
  if (p.N == 1 && !(target.update && target.weight_decay != 0))
    return weight_gradient_of_row(p, target, scratch);
  Lists lists(scratch, p.N);
  float* packed = scratch + 3 * kGroup * lists.row;
  {
    float* to = packed;
    for_each_chunk(p.out, [&](int64_t j, auto d, auto vectors) HWY_ATTR {
      pack_rows<decltype(d), vectors.value>(d, p.dy + j, p.dy_row, p.N, to);
      to += (p.N + 1) * kStrip;
    });
  }
  // A row without entries stays what it is.
  const bool every_row = !target.update || target.weight_decay != 0;
  for (int64_t k = 0; k < p.in; k += kGroup) {
    const int64_t count = std::min(kGroup, p.in - k);
    list_columns(p, k, count, kStrip, lists);
    for (int64_t i = 0; i < count; ++i) pad_list(lists.list[i], p.N * kStrip);
    const float* rows = packed;
    for_each_chunk(p.out, [&](int64_t j, auto d, auto vectors) HWY_ATTR {
      for (int64_t i = 0; i < count; ++i)
        if (every_row || lists.list[i].count > 0)
          make_sums<decltype(d), vectors.value>(d, lists.list[i], rows, target,
                                                target.w + (k + i) * target.w_row + j);
      rows += (p.N + 1) * kStrip;
    });
  }
}

// ---- dx = dy·wᵀ -------------------------------------------------------------------------------------------

/// Dot products of `row` with four rows of `others`, of which some may be the same.
HWY_INLINE void dot_products(const float* HWY_RESTRICT row, int64_t length, const float* const (&others)[4],
                             float* HWY_RESTRICT out) {
  const Floats d;
  Vector even[4], odd[4];
#pragma GCC unroll 4
  for (int c = 0; c < 4; ++c) even[c] = odd[c] = hn::Zero(d);
  int64_t j = 0;
  for (; j + 2 * kLanes <= length; j += 2 * kLanes) {
    const Vector a = hn::LoadU(d, row + j), b = hn::LoadU(d, row + j + kLanes);
#pragma GCC unroll 4
    for (int c = 0; c < 4; ++c) {
      even[c] = hn::MulAdd(a, hn::LoadU(d, others[c] + j), even[c]);
      odd[c] = hn::MulAdd(b, hn::LoadU(d, others[c] + j + kLanes), odd[c]);
    }
  }
  if (j + kLanes <= length) {
#pragma GCC unroll 4
    for (int c = 0; c < 4; ++c)
      even[c] = hn::MulAdd(hn::LoadU(d, row + j), hn::LoadU(d, others[c] + j), even[c]);
    j += kLanes;
  }
#pragma GCC unroll 4
  for (int c = 0; c < 4; ++c) even[c] = hn::Add(even[c], odd[c]);
  store_sums_of_lanes(even, out);
  for (; j < length; ++j)
    for (int c = 0; c < 4; ++c) out[c] += row[j] * others[c][j];
}

/// Images and inputs whose rows of dy and w stay in L1 and L2.
struct Block {
  int64_t n, rows, k, inputs;
};

void input_gradient_block(const ListedGradient& p, const Block& block, const float* w, int64_t w_row,
                          float* dx, int64_t dx_row, Lists& lists) {
  const ListedGradient part{block.rows, p.in, p.out, p.x + block.n * p.x_row, p.x_row, nullptr, 0};
  const float* dy = p.dy + block.n * p.dy_row;
  dx += block.n * dx_row;
  for (int64_t k = block.k; k < block.k + block.inputs; k += kGroup) {
    const int64_t count = std::min(kGroup, block.k + block.inputs - k);
    list_columns<Listed::open>(part, k, count, 1, lists);
    for (int64_t n = 0; n < block.rows; ++n) std::fill_n(dx + n * dx_row + k, count, 0.0f);
    for (int64_t i = 0; i < count; ++i) {
      List& list = lists.list[i];
      if (list.count == 0) continue;
      for (int64_t u = 0; u < 3; ++u) list.offsets[list.count + u] = list.offsets[list.count - 1];
      for (int64_t e = 0; e < list.count; e += 4) {
        const int32_t* n = list.offsets + e;
        const float* const rows[4] = {dy + n[0] * p.dy_row, dy + n[1] * p.dy_row, dy + n[2] * p.dy_row,
                                      dy + n[3] * p.dy_row};
        float sums[4];
        dot_products(w + (k + i) * w_row, p.out, rows, sums);
        for (int u = 0; u < 4; ++u) dx[n[u] * dx_row + k + i] = sums[u];
      }
    }
  }
}

/// One row of dy: dot products with four rows of w at a time.
void input_gradient_row(const ListedGradient& p, int64_t n, const float* w, int64_t w_row, float* dx,
                        float* scratch) {
  List list{reinterpret_cast<int32_t*>(scratch), scratch + kFewDepth + kSlack, 0};
  std::fill_n(dx, p.in, 0.0f);
  for (int64_t k = 0; k < p.in; k += kFewDepth, w += kFewDepth * w_row) {
    list.count = 0;
    append_listed<Listed::open>(p.x + n * p.x_row + k, std::min(kFewDepth, p.in - k), 1, list);
    if (list.count == 0) continue;
    std::fill_n(list.offsets + list.count, 3 + 4, list.offsets[list.count - 1]);
    for (int64_t e = 0; e < list.count; e += 4) {
      const int32_t* i = list.offsets + e;
      const float* const rows[4] = {w + i[0] * w_row, w + i[1] * w_row, w + i[2] * w_row, w + i[3] * w_row};
      for (int u = 4; u < 8; ++u)
        for (int64_t j = 0; j < p.out; j += kLine) hwy::Prefetch(w + i[u] * w_row + j);
      float sums[4];
      dot_products(p.dy + n * p.dy_row, p.out, rows, sums);
      for (int u = 0; u < 4; ++u) dx[k + i[u]] = sums[u];
    }
  }
}

void listed_input_gradient(const ListedGradient& p, const float* w, int64_t w_row, float* dx, int64_t dx_row,
                           float* scratch) {
  if (p.N <= kFewRows) {
    for (int64_t n = 0; n < p.N; ++n) input_gradient_row(p, n, w, w_row, dx + n * dx_row, scratch);
    return;
  }
  Lists lists(scratch, std::min(p.N, kRows));
  for (int64_t k = 0; k < p.in; k += kInputs)
    for (int64_t n = 0; n < p.N; n += kRows)
      input_gradient_block(p, {n, std::min(kRows, p.N - n), k, std::min(kInputs, p.in - k)}, w, w_row, dx,
                           dx_row, lists);
}

}  // namespace treadle::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace treadle::cpu {
namespace {

HWY_EXPORT(multiply_listed);
HWY_EXPORT(listed_weight_gradient);
HWY_EXPORT(listed_input_gradient);

}  // namespace

int64_t listed_product_scratch(int64_t N) {
  return std::max(kFewScratch, std::min(N, kRows) * 2 * (kDepth + kSlack) + (kDepth + 1) * kLongestStrip);
}

void multiply_listed(const ListedProduct& product, float* scratch) {
  HWY_DYNAMIC_DISPATCH(multiply_listed)(product, scratch);
}

int64_t listed_gradient_scratch(int64_t N, int64_t out) {
  const int64_t lists = 3 * kGroup * list_row_length(N);
  const int64_t packed = (N + 1) * (out / kLongestStrip + 12) * kLongestStrip;
  return std::max(lists + packed, kFewScratch);
}

void listed_weight_gradient(const ListedGradient& gradient, const ListedTarget& target, float* scratch) {
  HWY_DYNAMIC_DISPATCH(listed_weight_gradient)(gradient, target, scratch);
}

void listed_input_gradient(const ListedGradient& gradient, const float* w, int64_t w_row, float* dx,
                           int64_t dx_row, float* scratch) {
  HWY_DYNAMIC_DISPATCH(listed_input_gradient)(gradient, w, w_row, dx, dx_row, scratch);
}

}  // namespace treadle::cpu
#endif
