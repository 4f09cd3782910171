/// The cpu variant of concat.
#include "treadle/graph/variant.h"
#include "treadle/ops/layout/concat_options.h"
#include "treadle/ops/layout/copy_elements.h"

namespace treadle {
namespace {

void run(const Call& call) {
  const TensorView& y = call.output();
  int axis = normalize_axis(call.options<ConcatOptions>().axis, y.shape.rank(), "concat");
  int64_t begin = 0;
  for (const TensorView& x : call.inputs) {
    copy_elements(part_of(y, axis, begin, x.shape[axis]), x);
    begin += x.shape[axis];
  }
}

}  // namespace

namespace ops {

void register_layout_cpu_concat(Registry& registry) {
  add_variant(registry, "concat", {.name = "loop", .device = DeviceKind::cpu, .run = run});
}

}  // namespace ops
}  // namespace treadle
