/// The kernel of linear updates by a rule, without matrix tiles.
#pragma once

#include "treadle/ops/matrix/cuda/parameter_gradient.cuh"
#include "treadle/ops/update/cuda/optimizer_update.cuh"

namespace treadle::TREADLE_TARGET {
namespace linear_update_kernels {

/// One thread per parameter, threads of a warp along a row or a column of w: 2·N elements read for its
/// gradient, those of dy, or of x, by the whole warp at once; the parameter and what is kept of it read and
/// written once.
template <class T, class Step, int K>
__global__ void linear_update_naive(const Step* factors, LinearUpdateOperands<K> p) {
  const int64_t index = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (index >= parameters(p)) return;
  const auto [o, i] = place_of(p, index);
  update_at<T>(*factors, parameter_of(p, i), o, i == p.in ? 0 : i, parameter_gradient<T>(p, o, i));
}

template <class Rule>
void run_naive(const Call& call) {
  constexpr int kTensors = kOperandsOf<Rule> - 1;
  const auto p = linear_update_operands<kTensors>(call);
  with_floating_device_type(call.input(0).dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto* step = update_kernels::step_factors<Rule, Compute<T>>(
        call, kNumbersOfLinearUpdate, call.options<typename Rule::Options>(), {});
    launch<linear_update_naive<T, StepOf<Rule, Compute<T>>, kTensors>, independent>(
        stream_of(call), blocks_for(parameters(p)), kThreads, 0, step, p);
  });
}

}  // namespace linear_update_kernels

template <class Rule>
void register_linear_update_kernels(Registry& registry) {
  add_variant(registry, name_of_linear_update<Rule>().c_str(),
              {.name = "naive", .device = kDevice, .run = linear_update_kernels::run_naive<Rule>});
}

}  // namespace treadle::TREADLE_TARGET
