/// Optimiser updates on a device.
#include "treadle/ops/device_variant.h"
#include "treadle/ops/optimizer_options.h"
#include "treadle/ops/strided_operands.h"

namespace treadle::TREADLE_TARGET {
namespace {

/// Pointers to the parameter, its gradient and the state, passed to kernels by value.
template <class T, int N>
struct Operands {
  T* pointer[N];
};

/// One thread per parameter; reads all operands and writes all but the gradient (operand 1) once.
template <class T, class Step, int N>
__global__ void optimizer_update_naive(Step step, Strided<N> nest, Operands<T, N> operands) {
  int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= nest.numel) return;
  int64_t o[N];
  nest.offsets(i, o);
  Compute<T> value[N];
  for (int k = 0; k < N; ++k) value[k] = static_cast<Compute<T>>(operands.pointer[k][o[k]]);
  if constexpr (N == 2)
    step(value[0], value[1]);
  else if constexpr (N == 3)
    step(value[0], value[1], value[2]);
  else
    step(value[0], value[1], value[2], value[3]);
  for (int k = 0; k < N; ++k)
    if (k != 1) operands.pointer[k][o[k]] = T(value[k]);
}

template <class T, int N, class Step>
void update(const Call& call, const Step& step) {
  std::array<Strides, N> strides;
  Operands<T, N> operands;
  for (int k = 0; k < N; ++k) strides[k] = call.input(k).strides, operands.pointer[k] = call.input(k).as<T>();
  auto nest = make_strided<N>(call.input(0).shape, strides);
  launch<optimizer_update_naive<T, Step, N>, independent>(stream_of(call), blocks_for(nest.numel), kThreads,
                                                          0, step, nest, operands);
}

void run_sgd(const Call& call) {
  with_floating_device_type(call.input(0).dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    update<T, 2>(call, sgd_step<Compute<T>>(call.options<SgdUpdateOptions>()));
  });
}

void run_sgd_momentum(const Call& call) {
  with_floating_device_type(call.input(0).dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    update<T, 3>(call, sgd_momentum_step<Compute<T>>(call.options<SgdUpdateOptions>()));
  });
}

void run_adam(const Call& call) {
  with_floating_device_type(call.input(0).dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    update<T, 4>(call, adam_step<Compute<T>>(call.options<AdamUpdateOptions>()));
  });
}

}  // namespace

void register_optimizer_update(Registry& registry) {
  add_variant(registry, "sgd_update", {.name = "naive", .device = kDevice, .run = run_sgd});
  add_variant(registry, "sgd_momentum_update", {.name = "naive", .device = kDevice, .run = run_sgd_momentum});
  add_variant(registry, "adam_update", {.name = "naive", .device = kDevice, .run = run_adam});
}

}  // namespace treadle::TREADLE_TARGET
