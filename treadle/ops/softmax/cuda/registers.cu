/// softmax and log_softmax of short rows, which a warp holds in its registers.
///
/// As warp, a row for each of a block's warps and no barrier of the block; but an element is read once and
/// kept: lane i has elements i, i + 32, … in an array that the compiler, loops being unrolled, makes
/// registers of. What is left is one read and one write of memory, the least there can be. Kirk and Hwu,
/// Programming Massively Parallel Processors, on registers as the fastest memory; NVIDIA, Apex and PyTorch's
/// softmax_warp_forward, 2018, do the same.
#include "treadle/kernels/softmax.h"
#include "treadle/ops/softmax/cuda/softmax_variant.cuh"

namespace treadle::TREADLE_TARGET {
namespace {

constexpr int kOfLane = 16;  ///< elements of a row that a lane holds at most

template <class T>
__global__ void softmax_registers(SoftmaxPlan<2> plan, bool logarithm, const T* x, T* y) {
  using C = Compute<T>;
  const WarpGroup group;
  if (group.item() >= plan.rows.numel) return;
  int64_t o[2];
  plan.rows.offsets(group.item(), o);
  C element[kOfLane], largest = -INFINITY, sum = 0;
  UNROLL(16) for (int i = 0; i < kOfLane; ++i) {
    const int64_t at = group.rank() + i * kWarp;
    element[i] =
        at < plan.length ? static_cast<C>(x[o[1] + at * plan.strides[1]]) : static_cast<C>(-INFINITY);
    largest = Larger()(largest, element[i]);
  }
  largest = group.reduce(largest, Larger(), static_cast<C>(-INFINITY));
  UNROLL(16) for (int i = 0; i < kOfLane; ++i) {
    if (group.rank() + i * kWarp >= plan.length) break;
    element[i] -= largest;
    sum += math::exp(element[i]);
  }
  sum = group.reduce(sum, Addition<C>(), C(0));
  const C log_sum = math::log(sum);
  UNROLL(16) for (int i = 0; i < kOfLane; ++i) {
    const int64_t at = group.rank() + i * kWarp;
    if (at >= plan.length) break;
    y[o[0] + at * plan.strides[0]] =
        static_cast<T>(logarithm ? element[i] - log_sum : math::exp(element[i]) / sum);
  }
}

template <bool logarithm>
void run(const Call& call) {
  run_on_rows<2>(call, [&](const SoftmaxPlan<2>& plan, auto tag) {
    using T = typename decltype(tag)::type;
    launch<softmax_registers<T>>(stream_of(call), blocks_for(plan.rows.numel, WarpGroup::kPerBlock),
                                 WarpGroup::kThreads, 0, plan, logarithm, call.input(0).as<T>(),
                                 call.output().as<T>());
  });
}

bool takes(const Call& call) { return row_length(call) >= 8 && row_length(call) <= kOfLane * kWarp; }

}  // namespace

void register_softmax_cuda_registers(Registry& registry) {
  add_to_both(registry,
              {.name = "registers",
               .device = kDevice,
               .run = run<false>,
               .when = takes,
               .preference = 3,
               .rung = 5,
               .idea = "a warp keeps its row in registers: memory is read once"},
              run<true>);
}

}  // namespace treadle::TREADLE_TARGET
