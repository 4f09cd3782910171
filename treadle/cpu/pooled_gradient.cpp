#include "treadle/cpu/pooled_gradient.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "treadle/cpu/pooled_gradient.cpp"
// Register tiles are arrays of vectors, which vectors without a fixed size cannot form.
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#ifndef TREADLE_CPU_POOLED_GRADIENT_ONCE
#define TREADLE_CPU_POOLED_GRADIENT_ONCE
namespace treadle::cpu {

constexpr int kMostRows = 5, kMostVectors = 5;

/// Rows of a register tile by its vectors: at most 12 sums, so that 16 registers do.
constexpr int kTileRows[kMostVectors + 1] = {0, 5, 5, 3, 3, 2};

/// Vectors of the next tile across a run of which `left` remain.
constexpr int64_t tile_vectors(int64_t left) { return left <= kMostVectors ? left : left == 6 ? 3 : 4; }

/// One tile of a filter's window for all filters.
struct Tile {
  const GradientLists& lists;
  int64_t filters;
  int64_t plane_step;                    ///< from row to row
  int64_t filter_row_step, filter_step;  ///< in sums or weights
  int64_t last_floats;                   ///< of the last vector that belong to the run
};

}  // namespace treadle::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace treadle::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::ScalableTag<float>;
using Integers = hn::RebindToSigned<Floats>;
constexpr int64_t kLanes = int64_t(hn::MaxLanes(Floats{}));

int64_t lanes() { return kLanes; }

/// places[choice]; `Few` places fit into a vector.
template <bool Few>
HWY_INLINE hn::Vec<Integers> look_up(const int32_t* places, hn::Vec<Integers> choice) {
  const Integers d;
  if constexpr (Few) {
    const auto inside = hn::And(choice, hn::Set(d, int32_t(kLanes - 1)));
    return hn::TableLookupLanes(hn::LoadU(d, places), hn::IndicesFromVec(d, inside));
  } else {
    return hn::GatherIndex(d, places, choice);
  }
}

/// One image's row; returns the new end of the list.
template <bool Few>
HWY_INLINE int64_t list_row(const float* HWY_RESTRICT dy, const uint8_t* HWY_RESTRICT choice, int64_t windows,
                            const PlaceOffsets& places, int32_t first, float* HWY_RESTRICT values,
                            int32_t* HWY_RESTRICT offsets, int64_t end, hn::Vec<Floats>& sum) {
  const Floats d;
  const Integers di;
  const hn::Rebind<uint8_t, Integers> bytes;
  const auto count = hn::Set(di, places.count), start = hn::Set(di, first);
  int64_t i = 0;
  for (; i + kLanes <= windows; i += kLanes) {
    const auto value = hn::LoadU(d, dy + i);
    const auto chosen = hn::PromoteTo(di, hn::LoadU(bytes, choice + i));
    const auto offset =
        hn::Add(hn::Add(hn::LoadU(di, places.windows + i), start), look_up<Few>(places.places, chosen));
    // Not "differs from 0", which is false for NaN.
    const auto listed = hn::AndNot(hn::Eq(value, hn::Zero(d)), hn::RebindMask(d, hn::Lt(chosen, count)));
    sum = hn::Add(sum, hn::IfThenElseZero(listed, value));
    hn::StoreU(hn::Compress(value, listed), d, values + end);
    hn::StoreU(hn::Compress(offset, hn::RebindMask(di, listed)), di, offsets + end);
    end += int64_t(hn::CountTrue(d, listed));
  }
  float rest = 0;
  for (; i < windows; ++i) {
    const bool listed = choice[i] < places.count && !(dy[i] == 0);
    values[end] = dy[i], offsets[end] = places.windows[i] + first + places.places[choice[i]];
    rest += listed ? dy[i] : 0, end += listed;
  }
  sum = hn::Add(sum, hn::IfThenElseZero(hn::FirstN(d, 1), hn::Set(d, rest)));
  return end;
}

template <bool Few>
int64_t list_rows(const PooledRows& rows, const PlaceOffsets& places, float* values, int32_t* offsets,
                  float* sum) {
  auto sums = hn::Zero(Floats{});
  int64_t end = 0;
  for (int64_t n = 0; n < rows.images; ++n)
    end = list_row<Few>(rows.dy + n * rows.dy_step, rows.choice + n * rows.choice_step, rows.windows, places,
                        int32_t(n) * places.image_step, values, offsets, end, sums);
  *sum = hn::GetLane(hn::SumOfLanes(Floats{}, sums));
  return end;
}

int64_t list(const PooledRows& rows, const PlaceOffsets& places, float* values, int32_t* offsets,
             float* sum) {
  return places.count <= kLanes ? list_rows<true>(rows, places, values, offsets, sum)
                                : list_rows<false>(rows, places, values, offsets, sum);
}

/// Rows × Vectors of each filter's sums stay in registers while its list is walked.
template <int Rows, int Vectors>
void add_tile(const Tile& tile, const float* HWY_RESTRICT plane, float* HWY_RESTRICT sums) {
  const Floats d;
  const int64_t step = tile.plane_step, capacity = tile.lists.capacity;
  for (int64_t k = 0; k < tile.filters; ++k, sums += tile.filter_step) {
    const float* HWY_RESTRICT values = tile.lists.values + k * capacity;
    const int32_t* HWY_RESTRICT offsets = tile.lists.offsets + k * capacity;
    const int64_t count = tile.lists.counts[k];
    hn::Vec<Floats> registers[Rows][Vectors];
#pragma GCC unroll 8
    for (int i = 0; i < Rows; ++i)
#pragma GCC unroll 8
      for (int j = 0; j < Vectors; ++j)
        registers[i][j] = hn::LoadU(d, sums + i * tile.filter_row_step + j * kLanes);
    for (int64_t e = 0; e < count; ++e) {
      const auto value = hn::Set(d, values[e]);
      const float* HWY_RESTRICT covered = plane + offsets[e];
#pragma GCC unroll 8
      for (int i = 0; i < Rows; ++i)
#pragma GCC unroll 8
        for (int j = 0; j < Vectors; ++j)
          registers[i][j] = hn::MulAdd(value, hn::LoadU(d, covered + i * step + j * kLanes), registers[i][j]);
    }
#pragma GCC unroll 8
    for (int i = 0; i < Rows; ++i)
#pragma GCC unroll 8
      for (int j = 0; j < Vectors; ++j)
        hn::StoreU(registers[i][j], d, sums + i * tile.filter_row_step + j * kLanes);
  }
}

/// Rows × Vectors of each filter's weights stay in registers while its list is walked.
template <int Rows, int Vectors>
void spread_tile(const Tile& tile, const float* HWY_RESTRICT weights, float* HWY_RESTRICT plane) {
  const Floats d;
  const int64_t step = tile.plane_step, capacity = tile.lists.capacity;
  const auto in_run = hn::FirstN(d, size_t(tile.last_floats));
  for (int64_t k = 0; k < tile.filters; ++k, weights += tile.filter_step) {
    const float* HWY_RESTRICT values = tile.lists.values + k * capacity;
    const int32_t* HWY_RESTRICT offsets = tile.lists.offsets + k * capacity;
    const int64_t count = tile.lists.counts[k];
    hn::Vec<Floats> registers[Rows][Vectors];
#pragma GCC unroll 8
    for (int i = 0; i < Rows; ++i)
#pragma GCC unroll 8
      for (int j = 0; j < Vectors; ++j)
        registers[i][j] = hn::LoadU(d, weights + i * tile.filter_row_step + j * kLanes);
    for (int64_t e = 0; e < count; ++e) {
      // What lies behind the run belongs to others: infinity and NaN must not reach it, not even times zero.
      const auto value = hn::Set(d, values[e]), last = hn::IfThenElseZero(in_run, value);
      float* HWY_RESTRICT covered = plane + offsets[e];
#pragma GCC unroll 8
      for (int i = 0; i < Rows; ++i)
#pragma GCC unroll 8
        for (int j = 0; j < Vectors; ++j) {
          float* at = covered + i * step + j * kLanes;
          hn::StoreU(hn::MulAdd(j + 1 < Vectors ? value : last, registers[i][j], hn::LoadU(d, at)), d, at);
        }
    }
  }
}

using AddTile = void (*)(const Tile&, const float*, float*);

template <int Rows, int Vectors>
struct Add {
  static constexpr AddTile run = add_tile<Rows, Vectors>;
};
template <int Rows, int Vectors>
struct Spread {
  static constexpr AddTile run = spread_tile<Rows, Vectors>;
};

/// The function for a tile of up to kTileRows[Vectors] rows.
template <template <int, int> class Function, int Vectors>
AddTile with_rows(int64_t rows) {
  constexpr int kMost = kTileRows[Vectors];
  switch (rows) {
    case 1:
      return Function<1, Vectors>::run;
    case 2:
      return Function<2, Vectors>::run;
    case 3:
      return Function<std::min(3, kMost), Vectors>::run;
    case 4:
      return Function<std::min(4, kMost), Vectors>::run;
    default:
      return Function<kMost, Vectors>::run;
  }
}

template <template <int, int> class Function>
AddTile with_tile(int64_t rows, int64_t vectors) {
  switch (vectors) {
    case 1:
      return with_rows<Function, 1>(rows);
    case 2:
      return with_rows<Function, 2>(rows);
    case 3:
      return with_rows<Function, 3>(rows);
    case 4:
      return with_rows<Function, 4>(rows);
    default:
      return with_rows<Function, kMostVectors>(rows);
  }
}

/// Calls f(function, tile, offset in the plane, offset in a filter) for the tiles that make up the window.
template <template <int, int> class Function, class F>
void for_each_tile(const GradientLists& lists, int64_t filters, const FilterWindow& window, F f) {
  const int64_t vectors = (window.run + kLanes - 1) / kLanes, row = window.columns * vectors * kLanes;
  for (int64_t column = 0; column < window.columns; ++column)
    for (int64_t j = 0, across = 0; j < vectors; j += across) {
      across = tile_vectors(vectors - j);
      const int64_t last = std::min(kLanes, window.run - (j + across - 1) * kLanes);
      for (int64_t i = 0, down = 0; i < window.rows; i += down) {
        down = std::min<int64_t>(kTileRows[across], window.rows - i);
        f(with_tile<Function>(down, across),
          Tile{lists, filters, window.row_step, row, row * window.rows, last},
          i * window.row_step + column * window.column_step + j * kLanes,
          i * row + (column * vectors + j) * kLanes);
      }
    }
}

void add(const GradientLists& lists, int64_t filters, const FilterWindow& window, const float* plane,
         float* sums) {
  for_each_tile<Add>(lists, filters, window,
                     [&](AddTile run, const Tile& tile, int64_t in_plane, int64_t in_filter) {
                       run(tile, plane + in_plane, sums + in_filter);
                     });
}

void spread(const GradientLists& lists, int64_t filters, const FilterWindow& window, const float* weights,
            float* plane) {
  for_each_tile<Spread>(lists, filters, window,
                        [&](AddTile run, const Tile& tile, int64_t in_plane, int64_t in_filter) {
                          run(tile, weights + in_filter, plane + in_plane);
                        });
}

}  // namespace treadle::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace treadle::cpu {
namespace {

HWY_EXPORT(lanes);
HWY_EXPORT(list);
HWY_EXPORT(add);
HWY_EXPORT(spread);

}  // namespace

int64_t vector_floats() { return HWY_DYNAMIC_DISPATCH(lanes)(); }

int64_t list_gradients(const PooledRows& rows, const PlaceOffsets& places, float* values, int32_t* offsets,
                       float* sum) {
  return HWY_DYNAMIC_DISPATCH(list)(rows, places, values, offsets, sum);
}

void add_windows(const GradientLists& lists, int64_t filters, const FilterWindow& window, const float* plane,
                 float* sums) {
  HWY_DYNAMIC_DISPATCH(add)(lists, filters, window, plane, sums);
}

void spread_windows(const GradientLists& lists, int64_t filters, const FilterWindow& window,
                    const float* weights, float* plane) {
  HWY_DYNAMIC_DISPATCH(spread)(lists, filters, window, weights, plane);
}

}  // namespace treadle::cpu
#endif
