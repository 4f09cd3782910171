/// where() on the cpu device; the loops of functions are in function_rows.h.
#include <algorithm>
#include <array>

#include "treadle/core/tensor_view.h"
#include "treadle/graph/variant.h"
#include "treadle/ops/layout/copy_elements.h"
#include "treadle/ops/pointwise/cpu/block_functions.h"
#include "treadle/ops/pointwise/cpu/rows.h"
#include "treadle/ops/strided_operands.h"

namespace treadle {
namespace {

template <class T>
void choose_row(const bool* condition, const T* a, const T* b, T* y, const std::array<int64_t, 4>& s,
                int64_t count) {
  if (s[1] != 0) {
    for (int64_t i = 0; i < count; ++i) y[i * s[0]] = condition[i * s[1]] ? a[i * s[2]] : b[i * s[3]];
    return;
  }
  const T* source = *condition ? a : b;  // one condition for the whole row
  const int64_t step = *condition ? s[2] : s[3];
  if (step == 1 && s[0] == 1) return void(std::copy(source, source + count, y));
  for (int64_t i = 0; i < count; ++i) y[i * s[0]] = source[i * step];
}

void run_where(const Call& call) {
  with_word_type(call.output().dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    auto nest = make_strided<4>(call.output(), call.inputs);
    T* y = call.output().as<T>();
    const bool* condition = call.input(0).as<bool>();
    const T *a = call.input(1).as<T>(), *b = call.input(2).as<T>();
    for_each_row(nest, function_rows::kElement, [&](const auto& o, const auto& s, int64_t count) {
      choose_row(condition + o[1], a + o[2], b + o[3], y + o[0], s, count);
    });
  });
}

void run_block(DType dtype, const Attributes&, const void* const* operands, void* result, int64_t count) {
  with_word_type(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    choose_row(static_cast<const bool*>(operands[0]), static_cast<const T*>(operands[1]),
               static_cast<const T*>(operands[2]), static_cast<T*>(result), {1, 1, 1, 1}, count);
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
