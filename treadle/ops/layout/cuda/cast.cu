/// Conversion between dtypes on a device.
#include "treadle/ops/device_variant.h"
#include "treadle/ops/layout/cast_options.h"
#include "treadle/ops/strided_operands.h"

namespace treadle::TREADLE_TARGET {
namespace {

template <class Out, class In>
__device__ Out convert(In value) {
  if constexpr (std::is_same_v<Out, bool>)
    return Compute<In>(value) != Compute<In>(0);
  else
    return static_cast<Out>(static_cast<Compute<In>>(value));
}

/// One thread per element; reads and writes it once. `from` is the same for all threads, so the switch never
/// diverges.
template <class Out>
__global__ void cast_naive(Strided<2> nest, DType from, const void* x, Out* y) {
  int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= nest.numel) return;
  int64_t o[2];
  nest.offsets(i, o);
  switch (from) {
    case DType::f32:
      y[o[0]] = convert<Out>(static_cast<const float*>(x)[o[1]]);
      break;
    case DType::f64:
      y[o[0]] = convert<Out>(static_cast<const double*>(x)[o[1]]);
      break;
    case DType::f16:
      y[o[0]] = convert<Out>(static_cast<const __half*>(x)[o[1]]);
      break;
    case DType::bf16:
      y[o[0]] = convert<Out>(static_cast<const __nv_bfloat16*>(x)[o[1]]);
      break;
    case DType::i8:
      y[o[0]] = convert<Out>(static_cast<const int8_t*>(x)[o[1]]);
      break;
    case DType::u8:
      y[o[0]] = convert<Out>(static_cast<const uint8_t*>(x)[o[1]]);
      break;
    case DType::i16:
      y[o[0]] = convert<Out>(static_cast<const int16_t*>(x)[o[1]]);
      break;
    case DType::i32:
      y[o[0]] = convert<Out>(static_cast<const int32_t*>(x)[o[1]]);
      break;
    case DType::i64:
      y[o[0]] = convert<Out>(static_cast<const int64_t*>(x)[o[1]]);
      break;
    default:
      y[o[0]] = convert<Out>(static_cast<const bool*>(x)[o[1]]);
      break;
  }
}

void run_naive(const Call& call) {
  auto nest = make_strided<2>(call.output(), call.inputs);
  with_device_type(call.output().dtype, [&](auto tag) {
    using Out = typename decltype(tag)::type;
    launch<cast_naive<Out>, independent>(stream_of(call), blocks_for(nest.numel), kThreads, 0, nest,
                                         call.input(0).dtype, call.input(0).data, call.output().as<Out>());
  });
}

}  // namespace

void register_layout_cuda_cast(Registry& registry) {
  add_variant(registry, "cast", {.name = "naive", .device = kDevice, .run = run_naive});
}

}  // namespace treadle::TREADLE_TARGET
