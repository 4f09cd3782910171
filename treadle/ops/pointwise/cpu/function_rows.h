/// A pointwise function on the cpu device: its loops along a row, those over contiguous elements in the
/// widest vectors that the processor has.
#pragma once

#include <string>
#include <type_traits>
#include <utility>

#include "treadle/core/tensor_view.h"
#include "treadle/ops/pointwise/cpu/block_functions.h"
#include "treadle/ops/pointwise/cpu/rows.h"
#include "treadle/ops/pointwise/pointwise_function.h"
#include "treadle/simd/instruction_sets.h"

namespace treadle::function_rows {

template <class F>
inline constexpr bool kCompares = std::is_base_of_v<ComparisonFunction, F>;

template <class F, class T>
using ResultOf = std::conditional_t<kCompares<F>, bool, T>;

template <class F, class Out, class... T>
TREADLE_ALWAYS_INLINE void run_elements(const F& f, int64_t count, Out* row, const T*... x) {
  for (int64_t i = 0; i < count; ++i) row[i] = Out(f(x[i]...));
}

/// Elements that follow each other in memory. Results of one byte gain nothing from wider vectors.
template <class F, class Out, class... T>
void run_dense(const F& f, int64_t count, Out* row, const T*... x) {
  const auto run = [=, &f] { run_elements(f, count, row, x...); };
  if constexpr ((std::is_same_v<T, float> && ...) && !kCompares<F>)
    in_widest_vectors(run);
  else
    run();
}

/// One of two operands is the same number for the whole row; the rest follows each other in memory.
template <class F, class T, class Out>
void run_with_number(const F& f, const T* a, const T* b, int64_t b_step, Out* row, int64_t count) {
  if (b_step == 0) {
    const T number = b[0];
    for (int64_t i = 0; i < count; ++i) row[i] = Out(f(a[i], number));
  } else {
    const T number = a[0];
    for (int64_t i = 0; i < count; ++i) row[i] = Out(f(number, b[i]));
  }
}

template <class F, class T, size_t... K>
void run_row(const F& f, const Row& row, std::index_sequence<K...>) {
  auto* y = static_cast<ResultOf<F, T>*>(row.result);
  const T* x[] = {static_cast<const T*>(row.operands[K])...};
  const int64_t* steps = row.steps;
  if (row.result_step == 1 && ((steps[K] == 1) && ...)) return run_dense(f, row.count, y, x[K]...);
  if constexpr (sizeof...(K) == 2)
    if (row.result_step == 1 && steps[0] + steps[1] == 1 && (steps[0] == 0 || steps[1] == 0))
      return run_with_number(f, x[0], x[1], steps[1], y, row.count);
  for (int64_t i = 0; i < row.count; ++i) y[i * row.result_step] = ResultOf<F, T>(f(x[K][i * steps[K]]...));
}

template <class F, class T>
void run_row_of(const void* function, const Row& row) {
  run_row<F, T>(*static_cast<const F*>(function), row, std::make_index_sequence<F::kOperands>{});
}

/// The rows of operands of this type: those of half types are floats by then.
template <class F>
RunRow row_function(DType dtype) {
  const auto of = [](auto tag) -> RunRow { return run_row_of<F, HostCompute<typename decltype(tag)::type>>; };
  if constexpr (kCompares<F>)
    return with_type(dtype, of);
  else if constexpr (F::kIntegers)
    return with_numeric_type(dtype, of);
  else
    return with_floating_type(dtype, of);
}

template <class F>
void run(const Call& call) {
  static_assert(F::kOperands <= kMostOperands);
  const F f = call.attributes ? call.options<F>() : F{};
  run_rows(call, &f, row_function<F>(call.input(0).dtype));
}

/// The same in a chain.
template <class F>
void run_in_chain(DType dtype, const Attributes& attributes, const void* const* operands, void* result,
                  int64_t count) {
  const F f = attributes ? attributes.as<F>() : F{};
  const auto row = with_floating_type(
      dtype, [](auto tag) -> RunRow { return run_row_of<F, HostCompute<typename decltype(tag)::type>>; });
  run_block(dtype, kCompares<F> ? DType::boolean : dtype, {operands, F::kOperands}, result, count, &f, row);
}

template <class F>
void add(Registry& registry, const std::string& op) {
  add_variant(registry, op.c_str(), {.name = "loop", .device = DeviceKind::cpu, .run = run<F>});
  add_block_function(op, run_in_chain<F>);
}

/// Adds the variant of a function, and that of its gradient.
template <class F>
void add(Registry& registry) {
  add<F>(registry, F::kName);
  if constexpr (std::is_base_of_v<UnaryFunction, F>)
    add<GradientOf<F>>(registry, std::string(F::kName) + "_gradient");
}

}  // namespace treadle::function_rows
