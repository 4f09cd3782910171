/// pick on a device.
#include "treadle/ops/device_variant.h"
#include "treadle/ops/loss/cuda/labels.cuh"
#include "treadle/ops/loss/pick_options.h"

namespace treadle::TREADLE_TARGET {
namespace {

/// One thread per sample: reads its label and one element.
template <class T>
__global__ void pick_naive(int64_t samples, Labels labels, int64_t ignored, int64_t row_stride,
                           int64_t class_stride, const T* x, T* y) {
  const int64_t n = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (n >= samples) return;
  if (labels.given(n) == ignored) {
    y[n] = static_cast<T>(0);
    return;
  }
  const int64_t label = labels[n];
  y[n] = label < 0 ? static_cast<T>(NAN) : x[n * row_stride + label * class_stride];
}

void run(const Call& call) {
  const TensorView& x = call.input(0);
  const int64_t samples = x.shape[0];
  with_floating_device_type(x.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    launch<pick_naive<T>, independent>(stream_of(call), blocks_for(samples), kThreads, 0, samples,
                                       Labels::of(call.input(1), x.shape[1], kPickOutOfRange),
                                       call.options<PickOptions>().ignore_index, x.strides[0], x.strides[1],
                                       x.as<T>(), call.output().as<T>());
  });
}

}  // namespace

void register_loss_cuda_pick(Registry& registry) {
  add_variant(registry, "pick", {.name = "naive", .device = kDevice, .run = run});
}

}  // namespace treadle::TREADLE_TARGET
