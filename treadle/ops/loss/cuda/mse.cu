/// Mean squared error on a device: blocks sum squares, one block adds up the blocks.
#include "treadle/ops/device_variant.h"
#include "treadle/ops/loss/cuda/loss_total.cuh"
#include "treadle/ops/strided_operands.h"

namespace treadle::TREADLE_TARGET {
namespace {

constexpr int64_t kMaxBlocks = 512;  ///< the same on every card, so that sums are too

template <class C, class T>
__device__ C squared_difference(const T* x, const T* target, int64_t x_offset, int64_t target_offset) {
  const C difference = static_cast<C>(x[x_offset]) - static_cast<C>(target[target_offset]);
  return difference * difference;
}

/// One thread per element.
template <class T>
__global__ void mse_terms(Strided<3> nest, const T* x, const T* target, T* loss) {
  const int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= nest.numel) return;
  int64_t o[3];
  nest.offsets(i, o);
  loss[o[0]] = static_cast<T>(squared_difference<Compute<T>>(x, target, o[1], o[2]));
}

/// Threads walk the elements with the stride of the grid; block b writes its sum to sums[b].
template <class T>
__global__ void mse_block(Strided<2> nest, const T* x, const T* target, Compute<T>* sums) {
  using C = Compute<T>;
  C sum = 0;
  const int64_t step = int64_t(gridDim.x) * blockDim.x;
  for (int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < nest.numel; i += step) {
    int64_t o[2];
    nest.offsets(i, o);
    sum += squared_difference<C>(x, target, o[0], o[1]);
  }
  sum = block_reduce(sum, Addition<C>(), C(0));
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

template <class T>
void run_terms(const Call& call) {
  const auto nest = make_strided<3>(call.output(), call.inputs);
  launch<mse_terms<T>, independent>(stream_of(call), blocks_for(nest.numel), kThreads, 0, nest,
                                    call.input(0).as<T>(), call.input(1).as<T>(), call.output().as<T>());
}

template <class T>
void run_total(const Call& call, double divisor) {
  const TensorView &x = call.input(0), &target = call.input(1);
  const auto nest = make_strided<2>(x.shape, {x.strides, target.strides});
  const int64_t blocks = std::clamp<int64_t>(nest.numel / (4 * kThreads), 1, kMaxBlocks);
  auto* sums = call.workspace<Compute<T>>(blocks);
  launch<mse_block<T>>(stream_of(call), unsigned(blocks), kThreads, 0, nest, x.as<T>(), target.as<T>(), sums);
  launch_loss_total<T>(call, blocks, sums, divisor);
}

void run(const Call& call) {
  const auto& options = call.options<LossOptions>();
  with_floating_device_type(call.input(0).dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if (options.keeps_terms())
      run_terms<T>(call);
    else
      run_total<T>(call, options.divisor(call.input(0).numel()));
  });
}

}  // namespace

void register_loss_cuda_mse(Registry& registry) {
  add_variant(registry, "mse", {.name = "naive", .device = kDevice, .run = run});
}

}  // namespace treadle::TREADLE_TARGET
