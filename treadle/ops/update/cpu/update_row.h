/// A rule's step along a row of elements, on the cpu device.
#pragma once

#include "treadle/core/tensor_view.h"
#include "treadle/ops/update/rule.h"
#include "treadle/simd/instruction_sets.h"

namespace treadle {

/// What a tensor of two numbers says of the step.
inline StepNumbers numbers_in(const TensorView& numbers) {
  return {numbers.as<double>()[0], numbers.as<double>()[numbers.strides[0]]};
}

/// Updates elements of the parameter and of what the rule keeps. The step works on registers, the operands do
/// not overlap.
template <class T, class Step, size_t... K, class... Slot>
TREADLE_ALWAYS_INLINE void update_elements(const Step& step, int64_t count, std::index_sequence<K...>,
                                           T* __restrict p, const T* __restrict g,
                                           Slot* __restrict... slots) {
#pragma GCC ivdep
  for (int64_t i = 0; i < count; ++i) {
    T value[] = {p[i], g[i], slots[i]...};
    apply_step(step, value);
    p[i] = value[0];
    ((slots[i] = value[2 + K]), ...);
  }
}

/// Roots and quotients of eight numbers take as long as those of four.
template <class T, class Step, class... Slot>
TREADLE_AVX2 void update_row_avx2(const Step& step, int64_t count, T* p, const T* g, Slot*... slots) {
  update_elements<T>(step, count, std::index_sequence_for<Slot...>(), p, g, slots...);
}

/// One row, dense in all operands: the parameter, its gradient, what the rule keeps.
template <class T, class Step, class... Slot>
void update_row(const Step& step, int64_t count, T* p, const T* g, Slot*... slots) {
  if (has_avx2()) return update_row_avx2<T>(step, count, p, g, slots...);
  update_elements<T>(step, count, std::index_sequence_for<Slot...>(), p, g, slots...);
}

}  // namespace treadle
