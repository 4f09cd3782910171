#include "treadle/ops/conv2d_max_pool2d/cpu/pooled_gradient.h"

#include <hwy/cache_control.h>

#include <algorithm>
#include <bit>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "treadle/ops/conv2d_max_pool2d/cpu/pooled_gradient.cpp"
#include "treadle/simd/targets.h"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "treadle/simd/lanes-inl.h"

#ifndef TREADLE_CPU_POOLED_GRADIENT_ONCE
#define TREADLE_CPU_POOLED_GRADIENT_ONCE
namespace treadle::cpu {

constexpr int kMostRows = 5, kMostVectors = 5;

/// Rows of a register tile by its vectors: at most 12 sums, so that 16 registers do.
constexpr int kTileRows[kMostVectors + 1] = {0, 5, 5, 3, 3, 2};

/// Vectors of the next tile across a run of which `left` remain.
constexpr int64_t tile_vectors(int64_t left) { return left <= kMostVectors ? left : left == 6 ? 3 : 4; }

/// The part of all lists' windows that registers hold.
struct Tile {
  int64_t lists;
  const GradientList* list;
  const float* values;
  const int32_t* offsets;
  int64_t in_step, out_step;  ///< from row to row
  int64_t last_floats;        ///< of the last vector that belong to the run
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
    end += store_listed(value, offset, listed, values + end, offsets + end);
  }
  float rest = 0;
  for (; i < windows; ++i) {
    // Bits in place of comparisons of floats: those would be branches that no one can predict.
    const uint32_t bits = std::bit_cast<uint32_t>(dy[i]);
    const uint32_t listed = uint32_t(choice[i] < places.count) & uint32_t(bits << 1 != 0);
    values[end] = dy[i], offsets[end] = places.windows[i] + first + places.places[choice[i]];
    rest += std::bit_cast<float>(bits & -listed), end += listed;
  }
  sum = hn::Add(sum, hn::IfThenElseZero(hn::FirstN(d, 1), hn::Set(d, rest)));
  return end;
}

template <bool Few>
int64_t list_rows(const FilterRows& rows, const PlaceOffsets& places, float* values, int32_t* offsets,
                  float* sum) {
  auto sums = hn::Zero(Floats{});
  int64_t end = 0;
  for (int64_t n = 0; n < rows.images; ++n)
    end = list_row<Few>(rows.dy + n * rows.dy_step, rows.choice + n * rows.choice_step, rows.windows, places,
                        int32_t(n) * places.image_step, values, offsets, end, sums);
  *sum = hn::GetLane(hn::SumOfLanes(Floats{}, sums));
  return end;
}

int64_t list_filter(const FilterRows& rows, const PlaceOffsets& places, float* values, int32_t* offsets,
                    float* sum) {
  return places.count <= kLanes ? list_rows<true>(rows, places, values, offsets, sum)
                                : list_rows<false>(rows, places, values, offsets, sum);
}

int64_t list_place(int64_t filters, const float* HWY_RESTRICT dy, const uint8_t* HWY_RESTRICT choice,
                   uint8_t place, int32_t filter_step, float* HWY_RESTRICT values,
                   int32_t* HWY_RESTRICT offsets) {
  const Floats d;
  const Integers di;
  const hn::Rebind<uint8_t, Integers> bytes;
  const auto wanted = hn::Set(di, place), step = hn::Set(di, int32_t(kLanes) * filter_step);
  auto offset = hn::Mul(hn::Iota(di, 0), hn::Set(di, filter_step));
  int64_t k = 0, end = 0;
  for (; k + kLanes <= filters; k += kLanes, offset = hn::Add(offset, step)) {
    const auto value = hn::LoadU(d, dy + k);
    const auto chosen = hn::Eq(hn::PromoteTo(di, hn::LoadU(bytes, choice + k)), wanted);
    const auto listed = hn::AndNot(hn::Eq(value, hn::Zero(d)), hn::RebindMask(d, chosen));
    end += store_listed(value, offset, listed, values + end, offsets + end);
  }
  for (; k < filters; ++k) {
    values[end] = dy[k], offsets[end] = int32_t(k) * filter_step;
    end += uint32_t(choice[k] == place) & uint32_t(std::bit_cast<uint32_t>(dy[k]) << 1 != 0);
  }
  return end;
}

/// Rows × Vectors of a list's window stay in registers while the list is walked.
template <int Rows, int Vectors>
void add_tile(const Tile& tile, const float* HWY_RESTRICT in, float* HWY_RESTRICT out) {
  const Floats d;
  const int64_t in_step = tile.in_step, out_step = tile.out_step;
  const float* HWY_RESTRICT values = tile.values;
  const int32_t* HWY_RESTRICT offsets = tile.offsets;
  const auto in_run = hn::FirstN(d, size_t(tile.last_floats));
  for (int64_t i = 0; i < tile.lists; ++i) {
    const GradientList list = tile.list[i];
    if (list.begin == list.end) continue;
    const GradientList& next = tile.list[std::min(i + 1, tile.lists - 1)];
    hwy::Prefetch(values + next.begin);
    hwy::Prefetch(offsets + next.begin);
    float* HWY_RESTRICT target = out + list.target;
    hn::Vec<Floats> sums[Rows][Vectors];
#pragma GCC unroll 8
    for (int r = 0; r < Rows; ++r)
#pragma GCC unroll 8
      for (int v = 0; v < Vectors; ++v) sums[r][v] = hn::LoadU(d, target + r * out_step + v * kLanes);
    for (int64_t e = list.begin; e < list.end; ++e) {
      const auto value = hn::Set(d, values[e]);
      const float* HWY_RESTRICT source = in + offsets[e];
#pragma GCC unroll 8
      for (int r = 0; r < Rows; ++r)
#pragma GCC unroll 8
        for (int v = 0; v < Vectors; ++v)
          sums[r][v] = hn::MulAdd(value, hn::LoadU(d, source + r * in_step + v * kLanes), sums[r][v]);
    }
    // What lies behind a run may be the next row's, and there the sum is not meant for it.
#pragma GCC unroll 8
    for (int r = 0; r < Rows; ++r) {
      float* last = target + r * out_step + (Vectors - 1) * kLanes;
      sums[r][Vectors - 1] = hn::IfThenElse(in_run, sums[r][Vectors - 1], hn::LoadU(d, last));
#pragma GCC unroll 8
      for (int v = 0; v < Vectors; ++v) hn::StoreU(sums[r][v], d, target + r * out_step + v * kLanes);
    }
  }
}

using AddTile = void (*)(const Tile&, const float*, float*);

/// The function for a tile of up to kTileRows[Vectors] rows.
template <int Vectors>
AddTile with_rows(int64_t rows) {
  constexpr int kMost = kTileRows[Vectors];
  constexpr AddTile kFunctions[] = {add_tile<1, Vectors>, add_tile<2, Vectors>,
                                    add_tile<std::min(3, kMost), Vectors>,
                                    add_tile<std::min(4, kMost), Vectors>, add_tile<kMost, Vectors>};
  return kFunctions[rows - 1];
}

AddTile with_tile(int64_t rows, int64_t vectors) {
  switch (vectors) {
    case 1:
      return with_rows<1>(rows);
    case 2:
      return with_rows<2>(rows);
    case 3:
      return with_rows<3>(rows);
    case 4:
      return with_rows<4>(rows);
    default:
      return with_rows<kMostVectors>(rows);
  }
}

void add(Tile tile, const WindowShape& shape, const float* in, WindowSteps in_steps, float* out,
         WindowSteps out_steps) {
  const int64_t vectors = (shape.run + kLanes - 1) / kLanes;
  for (int64_t column = 0; column < shape.columns; ++column)
    for (int64_t v = 0, across = 0; v < vectors; v += across) {
      across = tile_vectors(vectors - v);
      tile.last_floats = std::min(kLanes, shape.run - (v + across - 1) * kLanes);
      for (int64_t row = 0, down = 0; row < shape.rows; row += down) {
        down = std::min<int64_t>(kTileRows[across], shape.rows - row);
        with_tile(down, across)(tile, in + row * in_steps.row + column * in_steps.column + v * kLanes,
                                out + row * out_steps.row + column * out_steps.column + v * kLanes);
      }
    }
}

}  // namespace treadle::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace treadle::cpu {
namespace {

HWY_EXPORT(lanes);
HWY_EXPORT(list_filter);
HWY_EXPORT(list_place);
HWY_EXPORT(add);

}  // namespace

int64_t vector_floats() { return HWY_DYNAMIC_DISPATCH(lanes)(); }

int64_t list_of_filter(const FilterRows& rows, const PlaceOffsets& places, float* values, int32_t* offsets,
                       float* sum) {
  return HWY_DYNAMIC_DISPATCH(list_filter)(rows, places, values, offsets, sum);
}

int64_t list_of_place(int64_t filters, const float* dy, const uint8_t* choice, uint8_t place,
                      int32_t filter_step, float* values, int32_t* offsets) {
  return HWY_DYNAMIC_DISPATCH(list_place)(filters, dy, choice, place, filter_step, values, offsets);
}

void add_windows(int64_t lists, const GradientList* list, const float* values, const int32_t* offsets,
                 const WindowShape& shape, const float* in, WindowSteps in_steps, float* out,
                 WindowSteps out_steps) {
  const Tile tile{lists, list, values, offsets, in_steps.row, out_steps.row, 0};
  HWY_DYNAMIC_DISPATCH(add)(tile, shape, in, in_steps, out, out_steps);
}

}  // namespace treadle::cpu
#endif
