/// softmax and log_softmax in two passes: the maximum of a row and its sum of exponentials in one.
///
/// A block for each row, as in block, which reads the row three times: for the maximum, for the sum, for the
/// result. Here a thread keeps both: where a larger element comes, what it has summed is multiplied by e^(old
/// - new). So a row is read twice, and of a row that is longer than the caches two thirds of the traffic for
/// reading are left. Two such states become one in the same way.
/// Milakov and Gimelshein, Online Normalizer Calculation for Softmax, 2018.
#include "treadle/kernels/softmax.h"
#include "treadle/ops/softmax/cuda/softmax_variant.cuh"

namespace treadle::TREADLE_TARGET {
namespace {

/// Merges the scales of two parts of a row. A part without elements has the sum 0; in one of -∞ alone no
/// exponential is formed of the difference, as that is no number.
template <class C>
struct MergeScales {
  __device__ static C share(const SoftmaxScale<C>& part, C largest) {
    if (part.sum == 0 || part.largest == largest) return part.sum;
    return part.sum * math::exp(part.largest - largest);
  }
  __device__ SoftmaxScale<C> operator()(const SoftmaxScale<C>& a, const SoftmaxScale<C>& b) const {
    const C largest = Larger()(a.largest, b.largest);
    return {largest, share(a, largest) + share(b, largest)};
  }
};

template <class T>
__global__ void softmax_online(SoftmaxPlan<2> plan, bool logarithm, const T* x, T* y) {
  using C = Compute<T>;
  const BlockGroup group;
  const SoftmaxScale<C> none{static_cast<C>(-INFINITY), C(0)};
  const MergeScales<C> merge;
  int64_t o[2];
  plan.rows.offsets(group.item(), o);
  SoftmaxScale<C> scale = none;
  for (int64_t i = group.rank(); i < plan.length; i += group.size())
    scale = merge(scale, {static_cast<C>(x[o[1] + i * plan.strides[1]]), C(1)});
  scale = group.reduce(scale, merge, none);
  if (scale.largest == static_cast<C>(INFINITY)) scale.sum = static_cast<C>(NAN);  // ∞ - ∞ is no number
  const C log_sum = math::log(scale.sum);
  for (int64_t i = group.rank(); i < plan.length; i += group.size()) {
    const C shifted = static_cast<C>(x[o[1] + i * plan.strides[1]]) - scale.largest;
    y[o[0] + i * plan.strides[0]] =
        static_cast<T>(logarithm ? shifted - log_sum : math::exp(shifted) / scale.sum);
  }
}

template <bool logarithm>
void run(const Call& call) {
  run_on_rows<2>(call, [&](const SoftmaxPlan<2>& plan, auto tag) {
    using T = typename decltype(tag)::type;
    launch<softmax_online<T>>(stream_of(call), unsigned(plan.rows.numel), BlockGroup::kThreads, 0, plan,
                              logarithm, call.input(0).as<T>(), call.output().as<T>());
  });
}

/// A block pays once its threads have something to do.
bool takes(const Call& call) { return row_length(call) >= 32; }

}  // namespace

void register_softmax_cuda_online(Registry& registry) {
  add_to_both(registry,
              {.name = "online",
               .device = kDevice,
               .run = run<false>,
               .when = takes,
               .preference = -1,
               .rung = 3,
               .idea = "maximum and sum in one pass: a row is read twice, not three times"},
              run<true>);
}

}  // namespace treadle::TREADLE_TARGET
