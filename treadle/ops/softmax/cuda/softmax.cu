/// Softmax, log_softmax and their gradients on a device: a thread, a warp or a block per row.
#include "treadle/kernels/softmax.h"
#include "treadle/ops/softmax/cuda/softmax_variant.cuh"

namespace treadle::TREADLE_TARGET {
namespace {

/// One group per row, member i owns elements i, i + size, …; reads x three times (from cache after the
/// first), writes y.
template <class Group, class T>
__global__ void softmax_rows(SoftmaxPlan<2> plan, bool logarithm, const T* x, T* y) {
  using C = Compute<T>;
  const Group group;
  if (group.item() >= plan.rows.numel) return;
  int64_t o[2];
  plan.rows.offsets(group.item(), o);
  const auto scale = softmax_scale<C>(group, x + o[1], plan.length, plan.strides[1]);
  const C log_sum = math::log(scale.sum);
  for (int64_t i = group.rank(); i < plan.length; i += group.size()) {
    const C shifted = static_cast<C>(x[o[1] + i * plan.strides[1]]) - scale.largest;
    y[o[0] + i * plan.strides[0]] =
        static_cast<T>(logarithm ? shifted - log_sum : math::exp(shifted) / scale.sum);
  }
}

/// The same for dx = y·(dy - Σ dy·y), or dy - e^y·Σ dy for the logarithm; reads y and dy twice.
template <class Group, class T>
__global__ void softmax_gradient_rows(SoftmaxPlan<3> plan, bool logarithm, const T* y, const T* dy, T* dx) {
  using C = Compute<T>;
  const Group group;
  if (group.item() >= plan.rows.numel) return;
  int64_t o[3];
  plan.rows.offsets(group.item(), o);
  C sum = 0;
  for (int64_t i = group.rank(); i < plan.length; i += group.size())
    sum += static_cast<C>(dy[o[2] + i * plan.strides[2]]) *
           (logarithm ? C(1) : static_cast<C>(y[o[1] + i * plan.strides[1]]));
  sum = group.reduce(sum, Addition<C>(), C(0));
  for (int64_t i = group.rank(); i < plan.length; i += group.size()) {
    const C yi = static_cast<C>(y[o[1] + i * plan.strides[1]]),
            dyi = static_cast<C>(dy[o[2] + i * plan.strides[2]]);
    dx[o[0] + i * plan.strides[0]] = static_cast<T>(logarithm ? dyi - math::exp(yi) * sum : yi * (dyi - sum));
  }
}

template <class Group>
inline constexpr LaunchKind kKindOf = Group::kAlone ? independent : LaunchKind::general;

template <class Group, bool logarithm>
void run(const Call& call) {
  run_on_rows<2>(call, [&](const SoftmaxPlan<2>& plan, auto tag) {
    using T = typename decltype(tag)::type;
    launch<softmax_rows<Group, T>, kKindOf<Group>>(
        stream_of(call), blocks_for(plan.rows.numel, Group::kPerBlock), Group::kThreads, 0, plan, logarithm,
        call.input(0).as<T>(), call.output().as<T>());
  });
}

template <class Group, bool logarithm>
void run_gradient(const Call& call) {
  run_on_rows<3>(call, [&](const SoftmaxPlan<3>& plan, auto tag) {
    using T = typename decltype(tag)::type;
    launch<softmax_gradient_rows<Group, T>, kKindOf<Group>>(
        stream_of(call), blocks_for(plan.rows.numel, Group::kPerBlock), Group::kThreads, 0, plan, logarithm,
        call.input(0).as<T>(), call.input(1).as<T>(), call.output().as<T>());
  });
}

/// A warp pays once a good part of its lanes have something to do.
bool takes_warp(const Call& call) { return row_length(call) >= 8; }
bool takes_block(const Call& call) { return row_length(call) > 1024; }

/// By growing groups; `ladder`: as rungs, which the gradients' are not.
void add_groups(Registry& registry, const char* op, void (*naive)(const Call&), void (*warp)(const Call&),
                void (*block)(const Call&), bool ladder) {
  auto add = [&](Variant variant, int rung, const char* idea) {
    if (ladder) variant.rung = rung, variant.idea = idea;
    add_variant(registry, op, variant);
  };
  add({.name = "naive", .device = kDevice, .run = naive}, 1, "a thread for each row, three passes over it");
  add({.name = "block", .device = kDevice, .run = block, .when = takes_block, .preference = 2}, 2,
      "a block for each row, whose threads read neighbours in three passes");
  add({.name = "warp", .device = kDevice, .run = warp, .when = takes_warp, .preference = 1}, 4,
      "a warp for each row: shuffles alone, no barrier");
}

}  // namespace

void register_softmax_cuda_softmax(Registry& registry) {
  add_groups(registry, "softmax", run<ThreadGroup, false>, run<WarpGroup, false>, run<BlockGroup, false>,
             true);
  add_groups(registry, "log_softmax", run<ThreadGroup, true>, run<WarpGroup, true>, run<BlockGroup, true>,
             true);
  add_groups(registry, "softmax_gradient", run_gradient<ThreadGroup, false>, run_gradient<WarpGroup, false>,
             run_gradient<BlockGroup, false>, false);
  add_groups(registry, "log_softmax_gradient", run_gradient<ThreadGroup, true>, run_gradient<WarpGroup, true>,
             run_gradient<BlockGroup, true>, false);
}

}  // namespace treadle::TREADLE_TARGET
