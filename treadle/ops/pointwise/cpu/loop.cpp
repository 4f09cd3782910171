/// Pointwise ops on the cpu device: rows of a merged loop nest, contiguous rows in a loop that vectorises.
#include "treadle/graph/variant.h"
#include "treadle/kernels/pointwise_functions.h"
#include "treadle/ops/strided_operands.h"

namespace treadle {
namespace {

constexpr int64_t kGrain = 16384;  ///< elements worth a thread

/// Operands are read as T and computed in HostCompute<T>.
template <class F, class T, class Out, size_t... K>
void run_rows(const Call& call, const F& f, std::index_sequence<K...>) {
  constexpr int kOperands = sizeof...(K) + 1;
  using C = HostCompute<T>;
  auto nest = make_strided<kOperands>(call.output(), call.inputs);
  Out* y = call.output().as<Out>();
  const T* inputs[] = {call.input(K).template as<T>()...};
  for_each_row(nest, kGrain, [&](const auto& offsets, const auto& strides, int64_t count) {
    Out* row = y + offsets[0];
    const T* sources[] = {inputs[K] + offsets[K + 1]...};
    if (strides[0] == 1 && ((strides[K + 1] == 1) && ...)) {
      for (int64_t i = 0; i < count; ++i) row[i] = Out(f(C(sources[K][i])...));
    } else {
      for (int64_t i = 0; i < count; ++i) row[i * strides[0]] = Out(f(C(sources[K][i * strides[K + 1]])...));
    }
  });
}

template <class F>
F function_of(const Call& call) {
  return call.attributes ? call.options<F>() : F{};
}

template <class F, int N>
void run_same(const Call& call) {
  auto run = [&](auto tag) {
    using T = typename decltype(tag)::type;
    run_rows<F, T, T>(call, function_of<F>(call), std::make_index_sequence<N>{});
  };
  if constexpr (F::kIntegers)
    with_numeric_type(call.input(0).dtype, run);
  else
    with_floating_type(call.input(0).dtype, run);
}

template <class F>
void run_comparison(const Call& call) {
  with_type(call.input(0).dtype, [&](auto tag) {
    run_rows<F, typename decltype(tag)::type, bool>(call, function_of<F>(call),
                                                    std::make_index_sequence<2>{});
  });
}

void run_where(const Call& call) {
  with_type(call.output().dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    auto nest = make_strided<4>(call.output(), call.inputs);
    T* y = call.output().as<T>();
    const bool* condition = call.input(0).as<bool>();
    const T *a = call.input(1).as<T>(), *b = call.input(2).as<T>();
    for_each_row(nest, kGrain, [&](const auto& o, const auto& s, int64_t count) {
      for (int64_t i = 0; i < count; ++i)
        y[o[0] + i * s[0]] = condition[o[1] + i * s[1]] ? a[o[2] + i * s[2]] : b[o[3] + i * s[3]];
    });
  });
}

template <class... F, class Add>
void for_each_type(TypeList<F...>, Add add) {
  (add(TypeTag<F>{}), ...);
}

}  // namespace

namespace ops {

void register_pointwise_cpu_loop(Registry& registry) {
  auto add = [&](const std::string& op, void (*run)(const Call&)) {
    add_variant(registry, op.c_str(), {.name = "loop", .device = DeviceKind::cpu, .run = run});
  };
  for_each_type(UnaryFunctions{}, [&](auto tag) {
    using F = typename decltype(tag)::type;
    add(F::kName, run_same<F, 1>);
    add(std::string(F::kName) + "_gradient", run_same<GradientOf<F>, 2>);
  });
  for_each_type(BinaryFunctions{}, [&](auto tag) {
    using F = typename decltype(tag)::type;
    add(F::kName, run_same<F, 2>);
  });
  for_each_type(ComparisonFunctions{}, [&](auto tag) {
    using F = typename decltype(tag)::type;
    add(F::kName, run_comparison<F>);
  });
  add("where", run_where);
}

}  // namespace ops
}  // namespace treadle
