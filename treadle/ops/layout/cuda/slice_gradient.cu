/// The gradient of slice on a device: zeros, then a copy into the slice.
#include "treadle/ops/layout/cuda/copy_elements.cuh"
#include "treadle/ops/layout/slice_gradient.h"

namespace treadle::TREADLE_TARGET {
namespace {

void run_naive(const Call& call) {
  const auto& options = call.options<SliceGradientOptions>();
  const TensorView &dy = call.input(0), &dx = call.output();
  int axis = normalize_axis(options.axis, dx.shape.rank(), "slice_gradient");
  fill_elements(stream_of(call), dx, 0);
  copy_elements(stream_of(call), part_of(dx, axis, options.begin, dy.shape[axis], options.step), dy);
}

}  // namespace

void register_layout_cuda_slice_gradient(Registry& registry) {
  add_variant(registry, "slice_gradient", {.name = "naive", .device = kDevice, .run = run_naive});
}

}  // namespace treadle::TREADLE_TARGET
