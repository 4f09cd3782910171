#include "treadle/ops/cast.h"

#include <fmt/core.h>

#include "treadle/graph/registry.h"
#include "treadle/ops/cast_options.h"
#include "treadle/ops/pointwise_layout.h"
#include "treadle/ops/strided_operands.h"

namespace treadle {
namespace {

std::vector<TensorSpec> infer(Specs inputs, const Attributes& attributes) {
  return {pointwise_output("cast", inputs, attributes.as<CastOptions>().dtype)};
}

/// What an element becomes when it is stored as T and read back.
template <class T>
double through(double value) {
  if constexpr (std::is_same_v<T, bool>)
    return value != 0;
  else
    return double(T(value));
}

std::vector<ReferenceTensor> reference(ReferenceInputs inputs, const Attributes& attributes) {
  ReferenceTensor y = inputs[0];
  with_type(attributes.as<CastOptions>().dtype, [&](auto tag) {
    for (double& value : y.values) value = through<typename decltype(tag)::type>(value);
  });
  return {y};
}

std::vector<Tensor> gradient(const GradientContext& context) {
  return {cast(context.upstream(), context.input_spec(0).dtype)};
}

std::vector<TestCase> cases() {
  std::vector<TestCase> list;
  for (DType dtype : kAllDTypes) {
    // Finite differences cannot see through the rounding of a narrower type.
    bool differentiable = dtype == DType::f64;
    auto add = [&](const std::string& label, const Shape& shape, TestLayout layout) {
      TestInput x{shape, {TestFill::integers, 0, 3}, layout};
      x.differentiable = differentiable;
      list.push_back(
          {fmt::format("to {}{}", name_of(dtype), label), {x}, Attributes::of(CastOptions{dtype})});
    };
    add("", {5, 203}, TestLayout::contiguous);
    add(" transposed", {5, 7, 3}, TestLayout::transposed);
  }
  return list;
}

void run(const Call& call) {
  with_type(call.input(0).dtype, [&](auto from) {
    with_type(call.output().dtype, [&](auto to) {
      using In = typename decltype(from)::type;
      using Out = typename decltype(to)::type;
      auto nest = make_strided<2>(call.output(), call.inputs);
      const In* x = call.input(0).as<In>();
      Out* y = call.output().as<Out>();
      for_each_row(nest, 16384, [&](const auto& o, const auto& s, int64_t count) {
        for (int64_t i = 0; i < count; ++i) {
          HostCompute<In> value = x[o[1] + i * s[1]];
          if constexpr (std::is_same_v<Out, bool>)
            y[o[0] + i * s[0]] = value != 0;
          else
            y[o[0] + i * s[0]] = Out(value);
        }
      });
    });
  });
}

}  // namespace

namespace ops {

void register_cast(Registry& registry) {
  registry.add({.name = "cast",
                .summary = "y = x as another dtype",
                .options = &schema_of<CastOptions>(),
                .dtypes = kEveryDType,
                .infer = infer,
                .reference = reference,
                .gradient = gradient,
                .cases = cases});
  registry.add_variant("cast", {.name = "loop", .device = DeviceKind::cpu, .run = run});
}

}  // namespace ops

Tensor cast(const Tensor& x, DType dtype) {
  static const Op& op = op_named("cast");
  return x.dtype() == dtype ? x : apply(op, {x}, Attributes::of(CastOptions{dtype}))[0];
}

}  // namespace treadle
