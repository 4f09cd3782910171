/// The cpu variant of cast.
#include "treadle/graph/variant.h"
#include "treadle/ops/strided_operands.h"

namespace treadle {
namespace {

void run(const Call& call) {
  with_type(call.input(0).dtype, [&](auto from) {
    with_type(call.output().dtype, [&](auto to) {
      using In = typename decltype(from)::type;
      using Out = typename decltype(to)::type;
      auto nest = make_strided<2>(call.output(), call.inputs);
      const In* x = call.input(0).as<In>();
      Out* y = call.output().as<Out>();
      for_each_row(nest, Nanoseconds{0.25}, [&](const auto& o, const auto& s, int64_t count) {
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

void register_layout_cpu_cast(Registry& registry) {
  add_variant(registry, "cast", {.name = "loop", .device = DeviceKind::cpu, .run = run});
}

}  // namespace ops
}  // namespace treadle
