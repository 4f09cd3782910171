// The largest of a pooling window, ReLU, and the store, one vector of filters at a time. For each instruction
// set that the including file is compiled for.
#include <algorithm>
#include <cstring>

#include "treadle/ops/conv2d_max_pool2d/cpu/pooled_output.h"

#if defined(TREADLE_CPU_POOLED_OUTPUT_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TREADLE_CPU_POOLED_OUTPUT_INL_H
#undef TREADLE_CPU_POOLED_OUTPUT_INL_H
#else
#define TREADLE_CPU_POOLED_OUTPUT_INL_H
#endif

#include <hwy/highway.h>

#include "treadle/simd/transpose-inl.h"

HWY_BEFORE_NAMESPACE();
namespace treadle::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// The largest so far and, where it is to be chosen, its place.
template <class D, bool Chooses>
struct Largest {
  hn::Vec<D> value;
  hn::Vec<hn::RebindToSigned<D>> place;

  HWY_INLINE Largest(D d, hn::Vec<D> first, int32_t first_place)
      : value(first), place(hn::Set(hn::RebindToSigned<D>(), first_place)) {
    (void)d;
  }
  /// Takes what is larger, or the first NaN.
  HWY_INLINE void look_at(D d, hn::Vec<D> next, int32_t next_place) {
    const hn::RebindToSigned<D> di;
    const auto take = hn::AndNot(hn::Le(next, value), hn::Eq(value, value));
    value = hn::IfThenElse(take, next, value);
    if constexpr (Chooses) place = hn::IfThenElse(hn::RebindMask(di, take), hn::Set(di, next_place), place);
    (void)d;
  }
  HWY_INLINE void store(D d, hn::Vec<D> bias, bool relu, float* HWY_RESTRICT y,
                        uint8_t* HWY_RESTRICT choice) const {
    const auto sum = hn::Add(value, bias);
    hn::StoreU(relu ? hn::IfThenZeroElse(hn::Le(sum, hn::Zero(d)), sum) : sum, d, y);
    if constexpr (Chooses) {
      const hn::RebindToSigned<D> di;
      const auto closed = hn::RebindMask(di, hn::Not(hn::Gt(sum, hn::Zero(d))));
      const auto chosen = relu ? hn::IfThenElse(closed, hn::Set(di, kNoChoice), place) : place;
      hn::StoreU(hn::DemoteTo(hn::Rebind<uint8_t, D>(), chosen), hn::Rebind<uint8_t, D>(), choice);
    }
  }
};

/// Moves on; null, where nothing is to be chosen, stays null.
HWY_INLINE uint8_t* moved(uint8_t* choice, int64_t steps) { return choice ? choice + steps : nullptr; }

template <bool Chooses, class D>
HWY_INLINE void store_largest_of_four(D d, const hn::Vec<D>* HWY_RESTRICT values, hn::Vec<D> bias, bool relu,
                                      float* HWY_RESTRICT y, uint8_t* HWY_RESTRICT choice) {
  Largest<D, Chooses> largest(d, values[0], 0);
#pragma GCC unroll 3
  for (int i = 1; i < 4; ++i) largest.look_at(d, values[i], i);
  largest.store(d, bias, relu, y, choice);
}

/// y and, unless `choice` is null, the choice of a window of 2×2 values. The loops around it are the same
/// with and without choice: one version of them is compiled, and the branch is foreseen.
template <class D>
HWY_INLINE void store_largest_of_four(D d, const hn::Vec<D>* HWY_RESTRICT values, hn::Vec<D> bias, bool relu,
                                      float* HWY_RESTRICT y, uint8_t* HWY_RESTRICT choice) {
  if (choice)
    store_largest_of_four<true>(d, values, bias, relu, y, choice);
  else
    store_largest_of_four<false>(d, values, bias, relu, y, choice);
}

/// Some consecutive windows' results for `Width` filters, of which the first `filters` exist.
template <int64_t Width>
struct PooledBlock {
  const PooledOutput& output;
  int64_t first_window, first_filter, filters;
  float* y;         ///< room for [windows, Width]
  uint8_t* choice;  ///< the same; null from place_in_output() on where the output has none
  int64_t step = Width;
  bool in_place = false;

  /// Puts the block straight into the output where it fits.
  void place_in_output() {
    if (!output.choice) choice = nullptr;
    if (output.filter_step != 1 || filters < Width) return;
    const int64_t offset = output.at(first_window, first_filter);
    y = output.y + offset, choice = moved(output.choice, offset), step = output.window_step, in_place = true;
  }

  /// Copies the results of `windows` windows to the output, unless they are there.
  void copy_out(int64_t windows) const {
    if (in_place) return;
    for (int64_t done = 0; done < windows;) {
      const int64_t rest = output.windows - (first_window + done) % output.windows;
      const int64_t count = std::min(windows - done, rest);
      copy_image(done, count);
      done += count;
    }
  }

 private:
  /// Windows of one image.
  void copy_image(int64_t begin, int64_t count) const {
    const int64_t offset = output.at(first_window + begin, first_filter);
    const float* from_y = y + begin * step;
    const uint8_t* from_choice = moved(choice, begin * step);
    if (output.filter_step == 1) {
      for (int64_t i = 0; i < count; ++i) {
        std::memcpy(output.y + offset + i * output.window_step, from_y + i * step,
                    size_t(filters) * sizeof(float));
        if (choice)
          std::memcpy(output.choice + offset + i * output.window_step, from_choice + i * step,
                      size_t(filters));
      }
      return;
    }
    transpose<float, kTransposedFloats>(from_y, count, output.y + offset);
    if (choice) transpose<uint8_t, kTransposedBytes>(from_choice, count, output.choice + offset);
  }

  /// Copies [windows, filters] to rows of windows, square by square.
  template <class T, int64_t Side>
  void transpose(const T* HWY_RESTRICT from, int64_t count, T* HWY_RESTRICT to) const {
    const int64_t whole_windows = count / Side * Side, whole_filters = filters / Side * Side;
    for (int64_t k = 0; k < whole_filters; k += Side)
      for (int64_t i = 0; i < whole_windows; i += Side)
        transpose_square(from + i * step + k, step, to + k * output.filter_step + i, output.filter_step);
    for (int64_t k = 0; k < filters; ++k)
      for (int64_t i = k < whole_filters ? whole_windows : 0; i < count; ++i)
        to[k * output.filter_step + i] = from[i * step + k];
  }
};

}  // namespace treadle::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
