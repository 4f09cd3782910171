/// Sums of floats with a block for each result. The rungs that use it differ in one thing: how 256 sums of
/// threads become one.
#pragma once

#include "treadle/ops/device_variant.h"
#include "treadle/ops/reduce/reduce_options.h"
#include "treadle/ops/reduce/reduce_plan.h"

namespace treadle::TREADLE_TARGET {

inline constexpr int kSumThreads = 256;

struct SumProblem {
  Strided<2> kept, reduced;
  const float* x;
  float* y;

  /// What one thread adds of a result's elements `begin` to `end`: neighbouring threads read neighbours.
  __device__ float sum_of_thread(int64_t output, int64_t begin, int64_t end) const {
    int64_t of_output[2], of_element[2];
    kept.offsets(output, of_output);
    float sum = 0;
    for (int64_t i = begin + threadIdx.x; i < end; i += kSumThreads) {
      reduced.offsets(i, of_element);
      sum += x[of_output[1] + of_element[0]];
    }
    return sum;
  }
};

inline SumProblem sum_problem(const Call& call) {
  const TensorView& x = call.input(0);
  const ReducedAxes axes(call.options<ReduceOptions>().axes, x.shape.rank());
  const ReducePlan plan = make_reduce_plan(x, axes, ReduceOrder::memory);
  return {plan.kept, plan.reduced, x.as<float>(), call.output().as<float>()};
}

/// A block pays when each of its threads has something to read; a grid has so many blocks at most.
inline bool takes_block_sum(const Call& call) {
  const int64_t outputs = call.output().numel();
  return call.input(0).dtype == DType::f32 && outputs > 0 && outputs <= INT32_MAX &&
         call.input(0).numel() / outputs >= 32;
}

inline void add_block_sum(Registry& registry, const char* name, void (*run)(const Call&), int rung,
                          const char* idea) {
  add_variant(registry, "sum",
              {.name = name,
               .device = kDevice,
               .run = run,
               .when = takes_block_sum,
               .preference = -1,
               .rung = rung,
               .idea = idea});
}

}  // namespace treadle::TREADLE_TARGET
