#include "treadle/ops/matrix/cpu/linear_products.h"

#include <hwy/cache_control.h>

#include <algorithm>
#include <cstring>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "treadle/ops/matrix/cpu/linear_products.cpp"
#include "treadle/simd/targets.h"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "treadle/simd/lanes-inl.h"

#ifndef TREADLE_CPU_LINEAR_PRODUCTS_ONCE
#define TREADLE_CPU_LINEAR_PRODUCTS_ONCE
namespace treadle::cpu {

constexpr int64_t kLargestVector = 16;     ///< floats in the widest vectors
constexpr int64_t kStripVectors = 3;       ///< vectors across a register tile of multiply_panels
constexpr int64_t kRowDepth = 1024;        ///< terms per pass of multiply_rows: four rows of b stay in L1
constexpr int64_t kRowBlock = 32 * 1024;   ///< floats of a per pass of multiply_rows: a share of L2
constexpr int64_t kPanelDepth = 512;       ///< terms per pass of multiply_panels
constexpr int64_t kPanelSize = 32 * 1024;  ///< floats of packed b: a share of L2
constexpr int64_t kFewRows = 3;            ///< up to so many rows of a, b is streamed without packing
constexpr int64_t kStreamed = 4096;        ///< floats of c that stay in L1 while b streams

constexpr int64_t ceiling(int64_t count, int64_t step) { return (count + step - 1) / step * step; }

}  // namespace treadle::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace treadle::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::ScalableTag<float>;
using Vector = hn::Vec<Floats>;
constexpr int64_t kLanes = int64_t(hn::MaxLanes(Floats{}));
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL || HWY_TARGET == HWY_NEON
constexpr int kDotRows = 6;   // 24 of 32 registers hold sums
constexpr int kTileRows = 8;  // the same
#else
constexpr int kDotRows = 3;   // 12 of 16
constexpr int kTileRows = 4;  // the same
#endif
constexpr int kDotColumns = 4;
constexpr int64_t kStrip = kStripVectors * kLanes;

// ---- c = a·bᵀ ---------------------------------------------------------------------------------------------

/// Which terms one pass adds, and whether it begins or ends the sums.
struct Pass {
  int64_t depth;
  bool first, last;
};

/// The last terms of a row, fewer than a vector: those before them become 0. Reads nothing outside the row.
HWY_INLINE Vector load_rest(const float* row, int64_t depth, int64_t rest, bool long_row) {
  const Floats d;
  if (HWY_LIKELY(long_row))
    return hn::IfThenZeroElse(hn::FirstN(d, size_t(kLanes - rest)), hn::LoadU(d, row + depth - kLanes));
  HWY_ALIGN float padded[kLanes] = {};
  for (int64_t i = 0; i < rest; ++i) padded[i] = row[depth - rest + i];
  return hn::Load(d, padded);
}

template <int Rows, int Columns>
HWY_INLINE void add_dot_products(const RowProduct& p, int64_t depth, const float* HWY_RESTRICT a,
                                 const float* HWY_RESTRICT b, Vector (&sums)[Rows][kDotColumns]) {
  const Floats d;
  auto add = [&](auto load) HWY_ATTR {
    Vector columns[Columns];
#pragma GCC unroll 4
    for (int j = 0; j < Columns; ++j) columns[j] = load(b + j * p.b_row);
#pragma GCC unroll 8
    for (int i = 0; i < Rows; ++i) {
      const Vector row = load(a + i * p.a_row);
#pragma GCC unroll 4
      for (int j = 0; j < Columns; ++j) sums[i][j] = hn::MulAdd(row, columns[j], sums[i][j]);
    }
  };
  int64_t k = 0;
  for (; k + kLanes <= depth; k += kLanes)
    add([&](const float* row) HWY_ATTR { return hn::LoadU(d, row + k); });
  const int64_t rest = depth - k;
  const bool long_row = p.K >= kLanes;
  if (rest > 0) add([&](const float* row) HWY_ATTR { return load_rest(row, depth, rest, long_row); });
}

/// c = sums (+ c) (+ bias), then ReLU: one row of a tile.
template <int Columns>
HWY_INLINE void finish_row(const RowProduct& p, const Pass& pass, const float* sums, const float* bias,
                           float* HWY_RESTRICT c) {
  const hn::CappedTag<float, Columns> d;
  for (int j = 0; j < Columns; j += int(hn::MaxLanes(d))) {
    auto total = hn::LoadU(d, sums + j);
    if (!pass.first) total = hn::Add(total, hn::LoadU(d, c + j));
    if (pass.last && bias) total = hn::Add(total, hn::LoadU(d, bias + j));
    if (pass.last && p.relu) total = hn::IfThenZeroElse(hn::Le(total, hn::Zero(d)), total);
    hn::StoreU(total, d, c + j);
  }
}

/// Rows × Columns elements of c.
template <int Rows, int Columns>
void multiply_dot_tile(const RowProduct& p, const Pass& pass, const float* a, const float* b, float* c,
                       const float* bias) {
  const Floats d;
  Vector sums[Rows][kDotColumns];
#pragma GCC unroll 8
  for (int i = 0; i < Rows; ++i)
#pragma GCC unroll 4
    for (int j = 0; j < kDotColumns; ++j) sums[i][j] = hn::Zero(d);
  add_dot_products<Rows, Columns>(p, pass.depth, a, b, sums);
  HWY_ALIGN float result[Rows][kDotColumns];
#pragma GCC unroll 8
  for (int i = 0; i < Rows; ++i) store_sums_of_lanes(sums[i], result[i]);
  for (int i = 0; i < Rows; ++i) finish_row<Columns>(p, pass, result[i], bias, c + i * p.c_row);
}

/// All rows of a block against a few rows of b.
template <int Columns>
void multiply_dot_columns(const RowProduct& p, const Pass& pass, int64_t rows, const float* a, const float* b,
                          float* c, const float* bias) {
  auto run = [&](auto count) HWY_ATTR {
    constexpr int kRows = decltype(count)::value;
    for (; rows >= kRows; rows -= kRows, a += kRows * p.a_row, c += kRows * p.c_row)
      multiply_dot_tile<kRows, Columns>(p, pass, a, b, c, bias);
  };
  run(std::integral_constant<int, kDotRows>{});
  if constexpr (kDotRows > 3) run(std::integral_constant<int, 3>{});
  run(std::integral_constant<int, 2>{});
  run(std::integral_constant<int, 1>{});
}

/// Columns [begin, end) of c, all passes of a block of rows.
struct Block {
  int64_t row, rows, begin, end;
};

void multiply_block(const RowProduct& p, const Block& block, int64_t k, const Pass& pass) {
  const float* a = p.a + block.row * p.a_row + k;
  int64_t j = block.begin;
  auto run = [&](auto count) HWY_ATTR {
    for (; j + count.value <= block.end; j += count.value)
      multiply_dot_columns<count.value>(p, pass, block.rows, a, p.b + j * p.b_row + k,
                                        p.c + block.row * p.c_row + j, p.bias ? p.bias + j : nullptr);
  };
  run(std::integral_constant<int, 4>{});
  run(std::integral_constant<int, 2>{});
  run(std::integral_constant<int, 1>{});
}

void multiply_rows(const RowProduct& p) {
  const int64_t passes = std::max<int64_t>((p.K + kRowDepth - 1) / kRowDepth, 1);
  const int64_t depth = ceiling(std::max<int64_t>((p.K + passes - 1) / passes, 1), kLargestVector);
  const int64_t rows = std::max<int64_t>(kRowBlock / depth / kDotRows, 1) * kDotRows;
  // A single tile of rows reads b once, which then is best read to the end of its rows.
  const int64_t columns = p.M <= kDotRows ? kDotColumns : std::max<int64_t>(p.N, 1);
  for (int64_t i = 0; i < p.M; i += rows)
    for (int64_t j = 0; j < p.N; j += columns)
      for (int64_t k = 0; k == 0 || k < p.K; k += depth)
        multiply_block(p, {i, std::min(rows, p.M - i), j, std::min(j + columns, p.N)}, k,
                       {std::min(depth, p.K - k), k == 0, k + depth >= p.K});
}

// ---- c = a·b ----------------------------------------------------------------------------------------------

/// What the tiles of one pass share: the terms of a, and whether the pass begins or ends the sums.
struct Terms {
  int64_t depth;
  const float* a;
  int64_t a_row, a_column;
  bool first, last;
};

/// The first element of a tile in c, and how many of its columns are inside.
struct Place {
  int64_t row, column, columns;
};

/// How a tile reads b: vectors of a packed strip, or rows where they lie, which end within the last vector
/// (`cut`), or which are copied to a strip as well (`packing`).
enum class Source { packed, whole, cut, packing };

struct Update {
  Vector rate, weight_decay;
  HWY_INLINE Vector operator()(Vector parameter, Vector gradient) const {
    return hn::Sub(parameter, hn::Mul(rate, hn::Add(gradient, hn::Mul(weight_decay, parameter))));
  }
};

HWY_INLINE Update update_of(const PanelProduct& p) {
  const Floats d;
  return {hn::Set(d, p.rate), hn::Set(d, p.weight_decay)};
}

template <int Rows, int Vectors>
using Sums = Vector[Rows][Vectors];

HWY_INLINE Vector relu(Vector v) {
  const Floats d;
  return hn::IfThenZeroElse(hn::Le(v, hn::Zero(d)), v);
}

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2  // where a masked load touches nothing else
HWY_INLINE Vector load_part(const float* row, int64_t count) {
  const Floats d;
  return hn::MaskedLoad(hn::FirstN(d, size_t(count)), d, row);
}
#else
HWY_INLINE Vector load_part(const float* row, int64_t count) {
  HWY_ALIGN float padded[kLanes] = {};
  for (int64_t i = 0; i < count; ++i) padded[i] = row[i];
  return hn::Load(Floats(), padded);
}
#endif

#if HWY_ARCH_X86 && HWY_TARGET < HWY_AVX2  // masked stores are slow on AVX2
HWY_INLINE void store_part(Vector v, float* row, int64_t count) {
  const Floats d;
  hn::BlendedStore(v, hn::FirstN(d, size_t(count)), d, row);
}
#else
HWY_INLINE void store_part(Vector v, float* row, int64_t count) {
  HWY_ALIGN float values[kLanes];
  hn::Store(v, Floats(), values);
  const float* from = values;
  auto copy = [&](auto step) {
    constexpr int64_t kStep = step.value;
    if constexpr (kStep < kLanes) {
      if ((count & kStep) == 0) return;
      std::memcpy(row, from, kStep * sizeof(float));
      row += kStep, from += kStep;
    }
  };
  copy(std::integral_constant<int, 4>{});
  copy(std::integral_constant<int, 2>{});
  copy(std::integral_constant<int, 1>{});
}
#endif

/// The first vector of a row that has `left` more elements; the lanes behind them are 0 and not accessed.
HWY_INLINE Vector load_first(const float* row, int64_t left) {
  return HWY_LIKELY(left >= kLanes) ? hn::LoadU(Floats(), row) : load_part(row, left);
}

HWY_INLINE void store_first(Vector v, float* row, int64_t left) {
  if (HWY_LIKELY(left >= kLanes))
    hn::StoreU(v, Floats(), row);
  else
    store_part(v, row, left);
}

/// Vector `j` of a tile's row: all but the last are whole.
template <int Vectors>
HWY_INLINE Vector load_vector(const float* row, int j, int64_t columns) {
  return j + 1 < Vectors ? hn::LoadU(Floats(), row + j * kLanes)
                         : load_first(row + j * kLanes, columns - j * kLanes);
}

/// Calls set(sum, row of the tile, vector of it) for all sums.
template <int Rows, int Vectors, class Set>
HWY_INLINE void for_each_sum(Sums<Rows, Vectors>& sums, Set set) {
#pragma GCC unroll 16
  for (int i = 0; i < Rows; ++i)
#pragma GCC unroll 4
    for (int j = 0; j < Vectors; ++j) set(sums[i][j], i, j);
}

/// Zeros, the bias, or what earlier passes left in c.
template <int Rows, int Vectors>
HWY_INLINE void start_sums(const float* c, int64_t c_row, const float* bias, bool first, int64_t columns,
                           Sums<Rows, Vectors>& sums) {
  if (!first)
    for_each_sum<Rows, Vectors>(sums, [&](Vector& sum, int i, int j) HWY_ATTR {
      sum = load_vector<Vectors>(c + i * c_row, j, columns);
    });
  else if (bias)
    for_each_sum<Rows, Vectors>(
        sums, [&](Vector& sum, int, int j) HWY_ATTR { sum = load_vector<Vectors>(bias, j, columns); });
  else
    for_each_sum<Rows, Vectors>(sums, [&](Vector& sum, int, int) HWY_ATTR { sum = hn::Zero(Floats()); });
}

template <int Rows, int Vectors>
HWY_INLINE void store_sums(Sums<Rows, Vectors>& sums, float* c, int64_t c_row, int64_t columns) {
  for_each_sum<Rows, Vectors>(sums, [&](Vector& sum, int i, int j) HWY_ATTR {
    float* const to = c + i * c_row + j * kLanes;
    if (j + 1 < Vectors)
      hn::StoreU(sum, Floats(), to);
    else
      store_first(sum, to, columns - j * kLanes);
  });
}

/// sums += a·b. Rows of b are b_step apart.
template <int Rows, int Vectors, Source source>
HWY_INLINE void add_products(const Terms& t, const float* HWY_RESTRICT b, int64_t b_step, int64_t columns,
                             float* HWY_RESTRICT strip, Sums<Rows, Vectors>& sums) {
  const Floats d;
  const float* HWY_RESTRICT a = t.a;
  const int64_t last = std::min(columns - (Vectors - 1) * kLanes, kLanes);
  for (int64_t k = 0; k < t.depth; ++k, a += t.a_column, b += b_step) {
    Vector row[Vectors];
#pragma GCC unroll 4
    for (int j = 0; j < Vectors; ++j)
      row[j] = source == Source::cut && j + 1 == Vectors ? load_part(b + j * kLanes, last)
                                                         : hn::LoadU(d, b + j * kLanes);
    if constexpr (source == Source::packing || source == Source::whole)
      for (int64_t line = 0; line < kStrip; line += 16) hwy::Prefetch(b + kStrip + line);  // the next strip
    if constexpr (source == Source::packing) {
#pragma GCC unroll 4
      for (int j = 0; j < Vectors; ++j) hn::Store(row[j], d, strip + j * kLanes);
      strip += kStrip;
    }
#pragma GCC unroll 16
    for (int i = 0; i < Rows; ++i) {
      const Vector factor = hn::Set(d, a[i * t.a_row]);
#pragma GCC unroll 4
      for (int j = 0; j < Vectors; ++j) sums[i][j] = hn::MulAdd(factor, row[j], sums[i][j]);
    }
  }
}

/// A tile whose columns fill all but the last of `Vectors` vectors.
template <int Rows, int Vectors, Source source>
HWY_INLINE void multiply_vectors(const PanelProduct& p, const Terms& t, const Place& at, const float* b,
                                 int64_t b_step, float* strip = nullptr) {
  const int64_t c_row = p.c_row, columns = at.columns;
  float* const c = p.c + at.row * c_row + at.column;
  Sums<Rows, Vectors> sums;
  start_sums<Rows, Vectors>(c, c_row, p.bias ? p.bias + at.column : nullptr, t.first, columns, sums);
  add_products<Rows, Vectors, source>(t, b, b_step, columns, strip, sums);
  if (p.update)
    for_each_sum<Rows, Vectors>(sums, [&, update = update_of(p)](Vector& sum, int i, int j) HWY_ATTR {
      sum = update(load_vector<Vectors>(c + i * c_row, j, columns), sum);
    });
  if (p.relu && t.last)
    for_each_sum<Rows, Vectors>(sums, [&](Vector& sum, int, int) HWY_ATTR { sum = relu(sum); });
  store_sums<Rows, Vectors>(sums, c, c_row, columns);
}

/// A tile of at most three vectors.
template <int Rows, Source source>
void multiply_tile(const PanelProduct& p, const Terms& t, const Place& at, const float* b, int64_t b_step) {
  if (at.columns > 2 * kLanes)
    multiply_vectors<Rows, 3, source>(p, t, at, b, b_step);
  else if (at.columns > kLanes)
    multiply_vectors<Rows, 2, source>(p, t, at, b, b_step);
  else
    multiply_vectors<Rows, 1, source>(p, t, at, b, b_step);
}

/// Calls run(number of rows as a constant, first row) for tiles that cover rows [first, rows), of at most
/// `Largest` rows each.
template <int Largest, class Run>
HWY_INLINE void for_each_row_tile(int64_t first, int64_t rows, Run run) {
  auto cover = [&](auto count) HWY_ATTR {
    if constexpr (count <= Largest)
      for (; first + count.value <= rows; first += count.value) run(count, first);
  };
  cover(std::integral_constant<int, 16>{});
  cover(std::integral_constant<int, 8>{});
  cover(std::integral_constant<int, 4>{});
  cover(std::integral_constant<int, 2>{});
  cover(std::integral_constant<int, 1>{});
}

Terms from_row(Terms t, int64_t i) {
  t.a += i * t.a_row;
  return t;
}

/// All rows from `first` on of a strip of c that has at most three vectors. One vector needs more rows for as
/// many independent sums.
template <Source source>
void multiply_strip(const PanelProduct& p, const Terms& t, int64_t first, int64_t j, int64_t columns,
                    const float* b, int64_t b_step) {
  auto run = [&](auto rows, int64_t i) HWY_ATTR {
    if constexpr (rows.value > kTileRows)
      multiply_vectors<rows.value, 1, source>(p, from_row(t, i), {i, j, columns}, b, b_step);
    else
      multiply_tile<rows.value, source>(p, from_row(t, i), {i, j, columns}, b, b_step);
  };
  if (columns <= kLanes)
    for_each_row_tile<2 * kTileRows>(first, p.M, run);
  else
    for_each_row_tile<kTileRows>(first, p.M, run);
}

/// Copies `depth` rows of b, `columns` elements each, into strips: out[strip][k][column], zero-filled.
void pack_strips(const float* b, int64_t b_row, int64_t depth, int64_t columns, float* HWY_RESTRICT out) {
  const Floats d;
  for (int64_t k = 0; k < depth; ++k, b += b_row, out += kStrip) {
    float* to = out;
    int64_t j = 0;
    for (; j + kStrip <= columns; j += kStrip, to += kStrip * depth)
#pragma GCC unroll 4
      for (int64_t v = 0; v < kStrip; v += kLanes) hn::Store(hn::LoadU(d, b + j + v), d, to + v);
    if (j == columns) continue;
#pragma GCC unroll 4
    for (int64_t v = 0; v < kStrip; v += kLanes)
      hn::Store(load_first(b + j + v, std::max<int64_t>(columns - j - v, 0)), d, to + v);
  }
}

/// Copies the transpose of four rows of four.
HWY_INLINE void transpose_block(const float* HWY_RESTRICT from, int64_t from_row, float* HWY_RESTRICT to,
                                int64_t to_row) {
#if HWY_TARGET == HWY_SCALAR
  for (int64_t i = 0; i < 4; ++i)
    for (int64_t k = 0; k < 4; ++k) to[k * to_row + i] = from[i * from_row + k];
#else
  const hn::CappedTag<float, 4> d;
  const auto a = hn::LoadU(d, from), b = hn::LoadU(d, from + from_row), c = hn::LoadU(d, from + 2 * from_row),
             e = hn::LoadU(d, from + 3 * from_row);
  const auto ac = hn::InterleaveLower(d, a, c), be = hn::InterleaveLower(d, b, e),
             ac_rest = hn::InterleaveUpper(d, a, c), be_rest = hn::InterleaveUpper(d, b, e);
  hn::StoreU(hn::InterleaveLower(d, ac, be), d, to);
  hn::StoreU(hn::InterleaveUpper(d, ac, be), d, to + to_row);
  hn::StoreU(hn::InterleaveLower(d, ac_rest, be_rest), d, to + 2 * to_row);
  hn::StoreU(hn::InterleaveUpper(d, ac_rest, be_rest), d, to + 3 * to_row);
#endif
}

/// The same strips of a b that lies column by column.
void pack_columns(const float* b, int64_t b_column, int64_t depth, int64_t columns, float* HWY_RESTRICT out) {
  for (int64_t j = 0; j < columns; j += kStrip, out += kStrip * depth) {
    const int64_t inside = std::min(kStrip, columns - j), blocks = inside / 4 * 4;
    int64_t k = 0;
    for (; k + 4 <= depth; k += 4)
      for (int64_t i = 0; i < blocks; i += 4)
        transpose_block(b + (j + i) * b_column + k, b_column, out + k * kStrip + i, kStrip);
    for (; k < depth; ++k)
      for (int64_t i = 0; i < blocks; ++i) out[k * kStrip + i] = b[(j + i) * b_column + k];
    if (blocks == kStrip) continue;
    for (k = 0; k < depth; ++k)
      for (int64_t i = blocks; i < kStrip; ++i)
        out[k * kStrip + i] = i < inside ? b[(j + i) * b_column + k] : 0;
  }
}

/// Rows [k, k + depth) and columns [j, j + columns) of b in strips.
void pack_panel(const PanelProduct& p, int64_t k, int64_t depth, int64_t j, int64_t columns, float* out) {
  const float* b = p.b + k * p.b_row + j * p.b_column;
  if (p.b_column == 1)
    pack_strips(b, p.b_row, depth, columns, out);
  else
    pack_columns(b, p.b_column, depth, columns, out);
}

/// Rows of a side by side, where they are far apart in memory and every strip reads them.
template <int Rows>
Terms pack_rows(const Terms& t, float* HWY_RESTRICT out) {
  if (t.a_column == 1) return t;
  const float* HWY_RESTRICT a = t.a;
  if (t.a_row == 1)
    for (int64_t k = 0; k < t.depth; ++k, a += t.a_column) std::copy_n(a, Rows, out + k * Rows);
  else
    for (int64_t k = 0; k < t.depth; ++k, a += t.a_column)
      for (int64_t i = 0; i < Rows; ++i) out[k * Rows + i] = a[i * t.a_row];
  return {t.depth, out, 1, Rows, t.first, t.last};
}

Terms terms_of(const PanelProduct& p, int64_t k, int64_t depth) {
  return {std::min(depth, p.K - k), p.a + k * p.a_column, p.a_row, p.a_column, k == 0, k + depth >= p.K};
}

/// Terms per pass: an update needs whole sums.
int64_t panel_depth(const PanelProduct& p) {
  return std::max<int64_t>(p.update ? p.K : std::min(p.K, kPanelDepth), 1);
}

int64_t panel_columns(const PanelProduct& p) {
  const int64_t strips = std::max<int64_t>(kPanelSize / (kStrip * panel_depth(p)), 1);
  return std::min(strips * kStrip, ceiling(p.N, kStrip));
}

/// For a tall c, or a b that lies column by column: panels of b are packed, and c is written along its rows.
void multiply_tall(const PanelProduct& p, float* scratch) {
  const int64_t depth = panel_depth(p), width = panel_columns(p);
  float* packed_rows = scratch + depth * width;
  for (int64_t j = 0; j < p.N; j += width)
    for (int64_t k = 0; k == 0 || k < p.K; k += depth) {
      const int64_t columns = std::min(width, p.N - j);
      const Terms terms = terms_of(p, k, depth);
      pack_panel(p, k, terms.depth, j, columns, scratch);
      for_each_row_tile<kTileRows>(0, p.M, [&](auto rows, int64_t i) HWY_ATTR {
        const Terms tile = pack_rows<rows>(from_row(terms, i), packed_rows);
        for (int64_t s = 0; s < columns; s += kStrip)
          multiply_tile<rows, Source::packed>(p, tile, {i, j + s, std::min(kStrip, columns - s)},
                                              scratch + s * terms.depth, kStrip);
      });
    }
}

/// For a tall b: the first tile of a strip packs it while it multiplies, and it stays close for the others.
void multiply_deep(const PanelProduct& p, float* strip) {
  constexpr int kFirst = 4;
  const int64_t depth = panel_depth(p);
  for (int64_t k = 0; k < p.K; k += depth) {
    const Terms terms = terms_of(p, k, depth);
    for (int64_t j = 0; j < p.N; j += kStrip) {
      const int64_t columns = std::min(kStrip, p.N - j);
      const float* b = p.b + k * p.b_row + j;
      const bool fused = columns == kStrip && p.M >= kFirst;
      if (fused)
        multiply_vectors<kFirst, kStripVectors, Source::packing>(p, terms, {0, j, columns}, b, p.b_row,
                                                                 strip);
      else
        pack_strips(b, p.b_row, terms.depth, columns, strip);
      multiply_strip<Source::packed>(p, terms, fused ? kFirst : 0, j, columns, strip, kStrip);
    }
  }
}

/// Where no strip of b is read twice, or all of b is one short strip: it is read where it lies.
void multiply_thin(const PanelProduct& p) {
  const int64_t depth = panel_depth(p);
  for (int64_t k = 0; k == 0 || k < p.K; k += depth) {
    const Terms terms = terms_of(p, k, depth);
    for (int64_t j = 0; j < p.N; j += kStrip) {
      const float* b = p.b + k * p.b_row + j;
      if (p.N - j >= kStrip)
        multiply_strip<Source::whole>(p, terms, 0, j, kStrip, b, p.b_row);
      else
        multiply_strip<Source::cut>(p, terms, 0, j, p.N - j, b, p.b_row);
    }
  }
}

/// Adds Depth rows of b, each times its factor, to a block of columns of a row of c.
template <int Depth>
HWY_INLINE void add_rows(const PanelProduct& p, int64_t i, int64_t k, int64_t first, int64_t columns) {
  const Floats d;
  const float* HWY_RESTRICT b = p.b + k * p.b_row + first;
  float* HWY_RESTRICT c = p.c + i * p.c_row + first;
  const float* HWY_RESTRICT bias = p.bias ? p.bias + first : nullptr;
  const bool begins = k == 0, ends = p.relu && k + Depth == p.K;
  Vector factors[Depth];
#pragma GCC unroll 8
  for (int g = 0; g < Depth; ++g) factors[g] = hn::Set(d, p.a[i * p.a_row + (k + g) * p.a_column]);
  auto add = [&](int64_t j, auto load, auto store) HWY_ATTR {
    Vector sum = !begins ? load(c + j) : bias ? load(bias + j) : hn::Zero(d);
#pragma GCC unroll 8
    for (int g = 0; g < Depth; ++g) sum = hn::MulAdd(factors[g], load(b + g * p.b_row + j), sum);
    store(ends ? relu(sum) : sum, c + j);
  };
  int64_t j = 0;
  for (; j + kLanes <= columns; j += kLanes)
    add(
        j, [&](const float* at) HWY_ATTR { return hn::LoadU(d, at); },
        [&](Vector v, float* at) HWY_ATTR { hn::StoreU(v, d, at); });
  if (const int64_t rest = columns - j; rest > 0)
    add(
        j, [&](const float* at) HWY_ATTR { return load_part(at, rest); },
        [&](Vector v, float* at) HWY_ATTR { store_part(v, at, rest); });
}

/// For few rows of a: c stays in L1 while b passes through, a few whole rows at a time.
void multiply_flat(const PanelProduct& p) {
  const int64_t width = kStreamed / p.M / kLanes * kLanes;
  for (int64_t j = 0; j < p.N; j += width) {
    const int64_t columns = std::min(width, p.N - j);
    int64_t k = 0;
    for (; k + 8 <= p.K; k += 8)
      for (int64_t i = 0; i < p.M; ++i) add_rows<8>(p, i, k, j, columns);
    for (; k < p.K; ++k)
      for (int64_t i = 0; i < p.M; ++i) add_rows<1>(p, i, k, j, columns);
  }
}

/// For one term: c is written, or updated, row by row.
void multiply_outer(const PanelProduct& p) {
  const Floats d;
  const int64_t whole = p.N / kLanes * kLanes, rest = p.N - whole;
  const Update update = update_of(p);
  const Vector b_rest = rest > 0 ? load_part(p.b + whole, rest) : hn::Zero(d);
  for (int64_t i = 0; i < p.M; ++i) {
    const Vector factor = hn::Set(d, p.a[i * p.a_row]);
    const float* HWY_RESTRICT b = p.b;
    float* HWY_RESTRICT c = p.c + i * p.c_row;
    auto product = [&](Vector row) HWY_ATTR { return hn::MulAdd(factor, row, hn::Zero(d)); };
    if (p.update) {
      for (int64_t j = 0; j < whole; j += kLanes)
        hn::StoreU(update(hn::LoadU(d, c + j), product(hn::LoadU(d, b + j))), d, c + j);
      if (rest > 0) store_part(update(load_part(c + whole, rest), product(b_rest)), c + whole, rest);
    } else {
      for (int64_t j = 0; j < whole; j += kLanes) hn::StoreU(product(hn::LoadU(d, b + j)), d, c + j);
      if (rest > 0) store_part(product(b_rest), c + whole, rest);
    }
  }
}

int64_t scratch_size(const PanelProduct& p) {
  return panel_depth(p) * (panel_columns(p) + ceiling(kTileRows, kLargestVector));
}

void multiply_panels(const PanelProduct& p, float* scratch) {
  if (p.b_column != 1) return multiply_tall(p, scratch);
  if (p.K == 1 && !p.bias && !p.relu) return multiply_outer(p);
  if (p.N <= kStrip) return multiply_thin(p);
  if (p.M <= kFewRows && !p.update && p.K > 1) return multiply_flat(p);
  if (p.M <= kTileRows) return multiply_thin(p);
  if (p.K > p.M && p.a_column == 1) return multiply_deep(p, scratch);
  multiply_tall(p, scratch);
}

}  // namespace treadle::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace treadle::cpu {
namespace {

HWY_EXPORT(multiply_rows);
HWY_EXPORT(multiply_panels);
HWY_EXPORT(scratch_size);

}  // namespace

void multiply_rows(const RowProduct& product) { HWY_DYNAMIC_DISPATCH(multiply_rows)(product); }

int64_t panel_scratch(const PanelProduct& product) { return HWY_DYNAMIC_DISPATCH(scratch_size)(product); }

void multiply_panels(const PanelProduct& product, float* scratch) {
  HWY_DYNAMIC_DISPATCH(multiply_panels)(product, scratch);
}

}  // namespace treadle::cpu
#endif
