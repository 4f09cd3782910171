/// What variants of softmax ask of a call.
#pragma once

#include "treadle/ops/device_variant.h"
#include "treadle/ops/softmax/softmax_options.h"
#include "treadle/ops/softmax/softmax_plan.h"

namespace treadle::TREADLE_TARGET {

inline int64_t row_length(const Call& call) {
  const Shape& shape = call.output().shape;
  return shape.rank() == 0 ? 1 : shape[int(call.options<SoftmaxOptions>().axis)];
}

/// Calls f with the plan of a call of N operands and a TypeTag of its elements.
template <int N, class F>
void run_on_rows(const Call& call, F f) {
  const auto plan = make_softmax_plan<N>(call.output(), call.inputs, call.options<SoftmaxOptions>().axis);
  with_floating_device_type(call.output().dtype, [&](auto tag) { f(plan, tag); });
}

/// A rung of both ladders: `variant` of softmax, and of its logarithm the same with another function.
inline void add_to_both(Registry& registry, Variant variant, void (*run_of_logarithm)(const Call&)) {
  add_variant(registry, "softmax", variant);
  variant.run = run_of_logarithm;
  add_variant(registry, "log_softmax", variant);
}

}  // namespace treadle::TREADLE_TARGET
