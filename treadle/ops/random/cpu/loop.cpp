/// The cpu variants of the random ops.
#include <algorithm>

#include "treadle/graph/variant.h"
#include "treadle/kernels/random_functions.h"
#include "treadle/ops/strided_operands.h"

namespace treadle {
namespace {

constexpr Nanoseconds kElement{2};

/// Fills the elements numbered `number`, `number` + `step`, …; whole blocks at once where they are
/// neighbours.
template <class C, class F, class T>
void fill_row(const F& f, T* row, int64_t stride, int64_t number, int64_t step, int64_t count) {
  C values[4];
  int64_t i = 0;
  const int64_t head = step == 1 ? std::min(count, (4 - number % 4) % 4) : count;
  const auto one = [&] {
    f(f.block((number + i * step) / 4), values);
    row[i * stride] = T(values[(number + i * step) % 4]);
  };
  for (; i < head; ++i) one();
  for (; i + 4 <= count; i += 4) {
    f(f.block((number + i) / 4), values);
    for (int lane = 0; lane < 4; ++lane) row[(i + lane) * stride] = T(values[lane]);
  }
  for (; i < count; ++i) one();
}

/// Values lie in row-major order, whatever the layout: operand 0 of the nest is the element's number.
template <class F, class T>
void fill_rows(const F& f, const TensorView& x) {
  using C = std::conditional_t<std::is_same_v<T, double>, double, float>;
  auto nest = make_strided<2>(x.shape, {contiguous_strides(x.shape), x.strides});
  for_each_row(nest, kElement, [&](const auto& o, const auto& s, int64_t count) {
    fill_row<C>(f, x.as<T>() + o[1], s[1], o[0], s[0], count);
  });
}

template <class F>
void run(const Call& call) {
  const TensorView& x = call.output();
  F f = call.options<F>();
  if (call.has_input(1)) f.read(call.input(1).as<double>(), call.input(1).strides[0]);
  auto fill = [&](auto tag) { fill_rows<F, typename decltype(tag)::type>(f, x); };
  if constexpr (std::is_same_v<F, Bernoulli>)
    with_type(x.dtype, fill);
  else
    with_floating_type(x.dtype, fill);
}

template <class F>
void add(Registry& registry) {
  add_variant(registry, F::kName, {.name = "loop", .device = DeviceKind::cpu, .run = run<F>});
}

}  // namespace

namespace ops {

void register_random_cpu_loop(Registry& registry) {
  add<Uniform>(registry);
  add<Normal>(registry);
  add<Bernoulli>(registry);
}

}  // namespace ops
}  // namespace treadle
