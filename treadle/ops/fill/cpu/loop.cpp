/// The cpu variants of fill and arange, and the filling that other ops' variants use.
#include <algorithm>

#include "treadle/core/scalar.h"
#include "treadle/graph/variant.h"
#include "treadle/ops/fill/fill_options.h"
#include "treadle/ops/layout/copy_elements.h"
#include "treadle/ops/strided_operands.h"

namespace treadle {
namespace {

constexpr Nanoseconds kElement{0.125};

void run_fill(const Call& call) {
  fill_elements(call.output(), bits_of(call.options<FillOptions>().value, call.output().dtype));
}

void run_arange(const Call& call) {
  const auto options = call.options<ArangeOptions>();
  const TensorView& y = call.output();
  // Operand 0 is the row-major index itself: its offset is the element's number.
  auto nest = make_strided<2>(y.shape, {contiguous_strides(y.shape), y.strides});
  with_numeric_type(y.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for_each_row(nest, kElement, [&](const auto& o, const auto& s, int64_t count) {
      for (int64_t i = 0; i < count; ++i)
        y.as<T>()[o[1] + i * s[1]] = T(options.start + double(o[0] + i * s[0]) * options.step);
    });
  });
}

}  // namespace

void fill_elements(const TensorView& target, uint64_t bits) {
  if (target.numel() == 0) return;
  auto nest = make_strided<1>(target, {});
  with_word_type(target.dtype, [&](auto tag) {
    using Word = typename decltype(tag)::type;
    for_each_row(nest, kElement, [&](const auto& o, const auto& s, int64_t count) {
      Word* y = target.as<Word>() + o[0];
      if (s[0] == 1)
        std::fill_n(y, count, Word(bits));
      else
        for (int64_t i = 0; i < count; ++i) y[i * s[0]] = Word(bits);
    });
  });
}

namespace ops {

void register_fill_cpu_loop(Registry& registry) {
  add_variant(registry, "fill", {.name = "loop", .device = DeviceKind::cpu, .run = run_fill});
  add_variant(registry, "arange", {.name = "loop", .device = DeviceKind::cpu, .run = run_arange});
}

}  // namespace ops
}  // namespace treadle
