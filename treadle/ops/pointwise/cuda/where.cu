/// where() on a device.
#include "treadle/ops/device_variant.h"
#include "treadle/ops/strided_operands.h"

namespace treadle::TREADLE_TARGET {
namespace {

/// One thread per output element of where(condition, a, b).
template <class T>
__global__ void where_naive(Strided<4> nest, const bool* condition, const T* a, const T* b, T* y) {
  int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= nest.numel) return;
  int64_t o[4];
  nest.offsets(i, o);
  y[o[0]] = condition[o[1]] ? a[o[2]] : b[o[3]];
}

void run_where(const Call& call) {
  auto nest = make_strided<4>(call.output(), call.inputs);
  with_device_type(call.output().dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    launch<where_naive<T>, independent>(stream_of(call), blocks_for(nest.numel), kThreads, 0, nest,
                                        call.input(0).as<bool>(), call.input(1).as<T>(),
                                        call.input(2).as<T>(), call.output().as<T>());
  });
}

}  // namespace

void register_pointwise_cuda_where(Registry& registry) {
  add_variant(registry, "where", {.name = "naive", .device = kDevice, .run = run_where});
}

}  // namespace treadle::TREADLE_TARGET
