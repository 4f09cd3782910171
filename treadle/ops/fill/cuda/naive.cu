/// fill and arange on a device.
#include "treadle/ops/fill/fill_options.h"
#include "treadle/ops/layout/cuda/copy_elements.cuh"
#include "treadle/ops/strided_operands.h"

namespace treadle::TREADLE_TARGET {
namespace {

/// One thread per element. Operand 0 of the nest is the row-major index itself, operand 1 is y.
template <class T>
__global__ void arange_naive(Strided<2> nest, double start, double step, T* y) {
  int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= nest.numel) return;
  int64_t o[2];
  nest.offsets(i, o);
  y[o[1]] = T(start + double(o[0]) * step);
}

void run_fill(const Call& call) {
  fill_elements(stream_of(call), call.output(),
                bits_of(call.options<FillOptions>().value, call.output().dtype));
}

void run_arange(const Call& call) {
  const auto options = call.options<ArangeOptions>();
  const TensorView& y = call.output();
  auto nest = make_strided<2>(y.shape, {contiguous_strides(y.shape), y.strides});
  with_numeric_device_type(y.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    launch<arange_naive<T>, independent>(stream_of(call), blocks_for(nest.numel), kThreads, 0, nest,
                                         options.start, options.step, y.as<T>());
  });
}

}  // namespace

void register_fill_cuda_naive(Registry& registry) {
  add_variant(registry, "fill", {.name = "naive", .device = kDevice, .run = run_fill});
  add_variant(registry, "arange", {.name = "naive", .device = kDevice, .run = run_arange});
}

}  // namespace treadle::TREADLE_TARGET
