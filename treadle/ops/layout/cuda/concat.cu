/// concat on a device: one copy for each input.
#include "treadle/ops/layout/concat_options.h"
#include "treadle/ops/layout/cuda/copy_elements.cuh"

namespace treadle::TREADLE_TARGET {
namespace {

void run_copies(const Call& call) {
  const TensorView& y = call.output();
  int axis = normalize_axis(call.options<ConcatOptions>().axis, y.shape.rank(), "concat");
  int64_t begin = 0;
  for (const TensorView& x : call.inputs) {
    copy_elements(stream_of(call), part_of(y, axis, begin, x.shape[axis]), x);
    begin += x.shape[axis];
  }
}

}  // namespace

void register_layout_cuda_concat(Registry& registry) {
  add_variant(registry, "concat", {.name = "naive", .device = kDevice, .run = run_copies});
}

}  // namespace treadle::TREADLE_TARGET
