/// where() on the cpu device; the loops of functions are in function_rows.h.
#include <algorithm>

#include "treadle/graph/variant.h"
#include "treadle/ops/pointwise/cpu/function_rows.h"
#include "treadle/ops/strided_operands.h"

namespace treadle {
namespace {

void run_where(const Call& call) {
  with_type(call.output().dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    auto nest = make_strided<4>(call.output(), call.inputs);
    T* y = call.output().as<T>();
    const bool* condition = call.input(0).as<bool>();
    const T *a = call.input(1).as<T>(), *b = call.input(2).as<T>();
    for_each_row(nest, function_rows::kElement, [&](const auto& o, const auto& s, int64_t count) {
      if (s[1] == 0) {  // one condition for the whole row
        const bool first = condition[o[1]];
        const T* source = first ? a + o[2] : b + o[3];
        const int64_t step = first ? s[2] : s[3];
        if (step == 1 && s[0] == 1) return void(std::copy(source, source + count, y + o[0]));
        for (int64_t i = 0; i < count; ++i) y[o[0] + i * s[0]] = source[i * step];
        return;
      }
      for (int64_t i = 0; i < count; ++i)
        y[o[0] + i * s[0]] = condition[o[1] + i * s[1]] ? a[o[2] + i * s[2]] : b[o[3] + i * s[3]];
    });
  });
}

void run_block(DType dtype, const Attributes&, const void* const* operands, void* result, int64_t count) {
  with_floating_type(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const bool* condition = static_cast<const bool*>(operands[0]);
    const T *a = static_cast<const T*>(operands[1]), *b = static_cast<const T*>(operands[2]);
    for (int64_t i = 0; i < count; ++i) static_cast<T*>(result)[i] = condition[i] ? a[i] : b[i];
  });
}

}  // namespace

namespace ops {

void register_pointwise_cpu_where(Registry& registry) {
  add_variant(registry, "where", {.name = "loop", .device = DeviceKind::cpu, .run = run_where});
  add_block_function("where", run_block);
}

}  // namespace ops
}  // namespace treadle
