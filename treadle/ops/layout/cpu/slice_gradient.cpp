/// The cpu variant of slice_gradient.
#include "treadle/ops/layout/slice_gradient.h"

#include "treadle/graph/variant.h"
#include "treadle/ops/layout/copy_elements.h"

namespace treadle {
namespace {

void run(const Call& call) {
  const auto& options = call.options<SliceGradientOptions>();
  const TensorView &dy = call.input(0), &dx = call.output();
  int axis = normalize_axis(options.axis, dx.shape.rank(), "slice_gradient");
  fill_elements(dx, 0);
  copy_elements(part_of(dx, axis, options.begin, dy.shape[axis], options.step), dy);
}

}  // namespace

namespace ops {

void register_layout_cpu_slice_gradient(Registry& registry) {
  add_variant(registry, "slice_gradient", {.name = "loop", .device = DeviceKind::cpu, .run = run});
}

}  // namespace ops
}  // namespace treadle
