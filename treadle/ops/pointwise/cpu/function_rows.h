/// Pointwise functions on the cpu device: rows of a merged loop nest, contiguous rows in a loop that
/// vectorises.
#pragma once

#include <array>
#include <type_traits>
#include <utility>

#include "treadle/graph/variant.h"
#include "treadle/ops/pointwise/cpu/block_functions.h"
#include "treadle/ops/pointwise/pointwise_function.h"
#include "treadle/ops/strided_operands.h"
#include "treadle/simd/instruction_sets.h"

namespace treadle::function_rows {

inline constexpr Nanoseconds kElement{0.25};

template <class F, class Out, class... T>
TREADLE_ALWAYS_INLINE void run_elements(F f, int64_t count, Out* row, const T*... x) {
  for (int64_t i = 0; i < count; ++i) row[i] = Out(f(HostCompute<T>(x[i])...));
}

/// Elements that follow each other in memory. Operands are read as T and computed in HostCompute<T>.
template <class F, class T, class Out, size_t... K>
void run_row(const F& f, const T* const (&sources)[sizeof...(K)], Out* row, int64_t count,
             std::index_sequence<K...>) {
  auto run = [&] { run_elements(f, count, row, sources[K]...); };
  if constexpr (std::is_same_v<HostCompute<T>, float>)
    in_widest_vectors(run);
  else
    run();
}

/// One of two operands is the same number for the whole row: its stride is 0.
template <class F, class T, class Out>
void run_row_with_number(const F& f, const T* a, const T* b, int64_t b_step, Out* row, int64_t count) {
  using C = HostCompute<T>;
  if (b_step == 0) {
    const C number = b[0];
    for (int64_t i = 0; i < count; ++i) row[i] = Out(f(C(a[i]), number));
  } else {
    const C number = a[0];
    for (int64_t i = 0; i < count; ++i) row[i] = Out(f(number, C(b[i])));
  }
}

/// Whether that is so, and the rest follows each other in memory.
template <size_t N>
bool has_number(const std::array<int64_t, N>& strides) {
  if constexpr (N != 3) return false;
  return strides[0] == 1 && strides[1] + strides[N - 1] == 1 && (strides[1] == 0 || strides[1] == 1);
}

template <class F, class T, class Out, size_t... K>
void run_rows(const Call& call, const F& f, std::index_sequence<K...>) {
  constexpr int kOperands = sizeof...(K) + 1;
  auto nest = make_strided<kOperands>(call.output(), call.inputs);
  Out* y = call.output().as<Out>();
  const T* inputs[] = {call.input(K).template as<T>()...};
  for_each_row(nest, kElement, [&](const auto& offsets, const auto& strides, int64_t count) {
    Out* row = y + offsets[0];
    const T* sources[] = {inputs[K] + offsets[K + 1]...};
    if (strides[0] == 1 && ((strides[K + 1] == 1) && ...)) {
      run_row(f, sources, row, count, std::index_sequence<K...>{});
    } else if (has_number(strides)) {
      if constexpr (sizeof...(K) == 2) run_row_with_number(f, sources[0], sources[1], strides[2], row, count);
    } else {
      using C = HostCompute<T>;
      for (int64_t i = 0; i < count; ++i) row[i * strides[0]] = Out(f(C(sources[K][i * strides[K + 1]])...));
    }
  });
}

template <class F>
inline constexpr bool kCompares = std::is_base_of_v<ComparisonFunction, F>;

template <class F, class T>
using ResultOf = std::conditional_t<kCompares<F>, bool, T>;

template <class F>
void run(const Call& call) {
  const F f = call.attributes ? call.options<F>() : F{};
  auto run = [&](auto tag) {
    using T = typename decltype(tag)::type;
    run_rows<F, T, ResultOf<F, T>>(call, f, std::make_index_sequence<F::kOperands>{});
  };
  const DType dtype = call.input(0).dtype;
  if constexpr (kCompares<F>)
    with_type(dtype, run);
  else if constexpr (F::kIntegers)
    with_numeric_type(dtype, run);
  else
    with_floating_type(dtype, run);
}

/// The same in a chain.
template <class F>
void run_block(DType dtype, const Attributes& attributes, const void* const* operands, void* result,
               int64_t count) {
  const F f = attributes ? attributes.as<F>() : F{};
  with_floating_type(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* sources[F::kOperands];
    for (int k = 0; k < F::kOperands; ++k) sources[k] = static_cast<const T*>(operands[k]);
    run_row(f, sources, static_cast<ResultOf<F, T>*>(result), count,
            std::make_index_sequence<F::kOperands>{});
  });
}

template <class F>
void add(Registry& registry, const std::string& op) {
  add_variant(registry, op.c_str(), {.name = "loop", .device = DeviceKind::cpu, .run = run<F>});
  add_block_function(op, run_block<F>);
}

/// Adds the variant of a function, and that of its gradient.
template <class F>
void add(Registry& registry) {
  add<F>(registry, F::kName);
  if constexpr (std::is_base_of_v<UnaryFunction, F>)
    add<GradientOf<F>>(registry, std::string(F::kName) + "_gradient");
}

}  // namespace treadle::function_rows
