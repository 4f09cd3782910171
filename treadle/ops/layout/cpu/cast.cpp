/// The cpu variant of cast.
#include "treadle/core/half.h"
#include "treadle/graph/variant.h"
#include "treadle/ops/strided_operands.h"
#include "treadle/simd/half_rows.h"

namespace treadle {
namespace {

/// Elements of two types at these steps.
using CastRow = void (*)(const void* x, int64_t x_step, void* y, int64_t y_step, int64_t count);

template <class In, class Out>
void cast_row(const void* from, int64_t x_step, void* to, int64_t y_step, int64_t count) {
  const In* x = static_cast<const In*>(from);
  Out* y = static_cast<Out*>(to);
  // What Autocast asks for.
  if constexpr (std::is_same_v<Out, float> && is_half(dtype_of<In>()))
    if (y_step == 1) return halves_to_floats(dtype_of<In>(), x, x_step, y, count);
  if constexpr (std::is_same_v<In, float> && is_half(dtype_of<Out>()))
    if (x_step == 1) return floats_to_halves(dtype_of<Out>(), x, y, y_step, count);
  for (int64_t i = 0; i < count; ++i) {
    const HostCompute<In> value = x[i * x_step];
    if constexpr (std::is_same_v<Out, bool>)
      y[i * y_step] = value != 0;
    else
      y[i * y_step] = Out(value);
  }
}

CastRow row_between(DType from, DType to) {
  return with_type(from, [&](auto in) {
    return with_type(to, [](auto out) -> CastRow {
      return cast_row<typename decltype(in)::type, typename decltype(out)::type>;
    });
  });
}

void run(const Call& call) {
  const TensorView &x = call.input(0), &y = call.output();
  const CastRow cast = row_between(x.dtype, y.dtype);
  const auto nest = make_strided<2>(y, call.inputs);
  for_each_row(nest, Nanoseconds{0.25}, [&](const auto& o, const auto& s, int64_t count) {
    cast(x.element(o[1]), s[1], y.element(o[0]), s[0], count);
  });
}

}  // namespace

namespace ops {

void register_layout_cpu_cast(Registry& registry) {
  add_variant(registry, "cast", {.name = "loop", .device = DeviceKind::cpu, .run = run});
}

}  // namespace ops
}  // namespace treadle
