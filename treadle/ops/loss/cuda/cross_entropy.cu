/// Softmax cross-entropy and its gradient on a device: a thread or a warp per sample, or all of a small batch
/// in one block.
#include "treadle/kernels/softmax.h"
#include "treadle/ops/device_variant.h"
#include "treadle/ops/loss/cuda/labels.cuh"
#include "treadle/ops/loss/cuda/loss_total.cuh"

namespace treadle::TREADLE_TARGET {
namespace {

/// x [samples, classes] with any strides, and labels.
template <class T>
struct Samples {
  const T* x;
  int64_t count, classes, row_stride, class_stride;
  Labels labels;
};

/// Writes the softmax of each sample.
template <class T>
struct Probabilities {
  T* probabilities;
  static Probabilities of(const Call& call) { return {call.output(1).as<T>()}; }
  __device__ void write(int64_t i, Compute<T> probability, bool, bool) const {
    probabilities[i] = static_cast<T>(probability);
  }
};

/// Writes the gradient of each sample's loss times `factor`, from probabilities rounded to T as
/// cross_entropy_gradient reads them; NaN without a valid label.
template <class T>
struct Gradients {
  T* dx;
  Compute<T> factor;
  static Gradients of(const Call& call) {
    const double divisor = call.options<LossOptions>().divisor(call.input(0).shape[0]);
    return {call.output(1).as<T>(), Compute<T>(1) / static_cast<Compute<T>>(divisor)};
  }
  __device__ void write(int64_t i, Compute<T> probability, bool of_label, bool valid) const {
    using C = Compute<T>;
    const C rounded = static_cast<C>(static_cast<T>(probability));
    dx[i] = static_cast<T>(valid ? (rounded - C(of_label)) * factor : static_cast<C>(NAN));
  }
};

/// Loss of sample n (NaN without a valid label); the members of the group write to `target`.
template <class Group, class T, class Target>
__device__ Compute<T> cross_entropy_sample(const Group& group, const Samples<T>& samples, int64_t n,
                                           const Target& target) {
  using C = Compute<T>;
  const T* x = samples.x + n * samples.row_stride;
  const int64_t label = samples.labels[n];
  const auto scale = softmax_scale<C>(group, x, samples.classes, samples.class_stride);
  for (int64_t c = group.rank(); c < samples.classes; c += group.size())
    target.write(n * samples.classes + c,
                 math::exp(static_cast<C>(x[c * samples.class_stride]) - scale.largest) / scale.sum,
                 c == label, label >= 0);
  if (label < 0) return static_cast<C>(NAN);
  return math::log(scale.sum) - (static_cast<C>(x[label * samples.class_stride]) - scale.largest);
}

/// One group per sample; writes a loss for each to `losses`. Reads x three times, from cache after the first.
template <class Group, class T, class Target, class Loss>
__global__ void cross_entropy_rows(Samples<T> samples, Loss* losses, Target target) {
  const Group group;
  if (group.item() >= samples.count) return;
  const auto loss = cross_entropy_sample(group, samples, group.item(), target);
  if (group.rank() == 0) losses[group.item()] = static_cast<Loss>(loss);
}

/// One block: warp w takes samples w, w + warps, …; then the block adds up what its warps have. Needs no
/// second kernel.
template <class T, class Target>
__global__ void __launch_bounds__(kMostThreads)
    cross_entropy_block(Samples<T> samples, Compute<T> divisor, T* loss, Target target) {
  using C = Compute<T>;
  const WarpGroup warp;
  C sum = 0;
  for (int64_t n = threadIdx.x / kWarp; n < samples.count; n += blockDim.x / kWarp)
    sum += cross_entropy_sample(warp, samples, n, target);
  sum = block_reduce(warp.rank() == 0 ? sum : C(0), Addition<C>(), C(0));
  if (threadIdx.x == 0) *loss = static_cast<T>(sum / divisor);
}

/// One thread per element of dx; reads one probability, one label and one upstream gradient.
template <class T>
__global__ void cross_entropy_gradient_naive(Samples<T> samples, const T* upstream, int64_t upstream_stride,
                                             Compute<T> divisor, T* dx) {
  using C = Compute<T>;
  const int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= samples.count * samples.classes) return;
  const int64_t n = i / samples.classes, c = i % samples.classes, label = samples.labels[n];
  const C probability = static_cast<C>(samples.x[n * samples.row_stride + c * samples.class_stride]);
  const C factor = static_cast<C>(upstream[n * upstream_stride]) / divisor;
  dx[i] = static_cast<T>(label < 0 ? static_cast<C>(NAN) : (probability - C(c == label)) * factor);
}

template <class T>
Samples<T> samples_of(const Call& call) {
  const TensorView& x = call.input(0);
  return {x.as<T>(),    x.shape[0],   x.shape[1],
          x.strides[0], x.strides[1], Labels::of(call.input(1), x.shape[1], kLabelOutOfRange)};
}

template <class Group, class T, class Target, class Loss>
void launch_rows(const Call& call, const Samples<T>& samples, const Target& target, Loss* losses) {
  if (samples.count == 0) return;
  launch<cross_entropy_rows<Group, T, Target, Loss>, Group::kAlone ? independent : LaunchKind::general>(
      stream_of(call), blocks_for(samples.count, Group::kPerBlock), Group::kThreads, 0, samples, losses,
      target);
}

template <class Group, template <class> class Target>
void run_rows(const Call& call) {
  const auto& options = call.options<LossOptions>();
  with_floating_device_type(call.input(0).dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto samples = samples_of<T>(call);
    const auto target = Target<T>::of(call);
    if (options.keeps_terms()) return launch_rows<Group>(call, samples, target, call.output(0).as<T>());
    auto* losses = call.workspace<Compute<T>>(samples.count);
    launch_rows<Group>(call, samples, target, losses);
    launch_loss_total<T>(call, samples.count, losses, options.divisor(samples.count));
  });
}

template <template <class> class Target>
void run_block(const Call& call) {
  const int64_t count = call.input(0).shape[0];
  with_floating_device_type(call.input(0).dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    launch<cross_entropy_block<T, Target<T>>>(
        stream_of(call), 1, count > 8 ? kMostThreads : kThreads, 0, samples_of<T>(call),
        static_cast<Compute<T>>(call.options<LossOptions>().divisor(count)), call.output(0).as<T>(),
        Target<T>::of(call));
  });
}

/// One block reads a small batch as fast as a second launch would start.
bool takes_block(const Call& call) {
  return !call.options<LossOptions>().keeps_terms() && call.input(0).numel() <= 16384;
}

void run_gradient(const Call& call) {
  const TensorView& upstream = call.input(2);
  const auto& options = call.options<LossOptions>();
  const int64_t stride = options.keeps_terms() ? upstream.strides[0] : 0;
  with_floating_device_type(call.input(0).dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto samples = samples_of<T>(call);
    launch<cross_entropy_gradient_naive<T>, independent>(
        stream_of(call), blocks_for(samples.count * samples.classes), kThreads, 0, samples, upstream.as<T>(),
        stride, static_cast<Compute<T>>(options.divisor(samples.count)), call.output().as<T>());
  });
}

template <template <class> class Target>
void register_variants(Registry& registry, const char* op) {
  add_variant(registry, op, {.name = "naive", .device = kDevice, .run = run_rows<ThreadGroup, Target>});
  add_variant(registry, op,
              {.name = "warp", .device = kDevice, .run = run_rows<WarpGroup, Target>, .preference = 1});
  add_variant(
      registry, op,
      {.name = "block", .device = kDevice, .run = run_block<Target>, .when = takes_block, .preference = 2});
}

}  // namespace

void register_loss_cuda_cross_entropy(Registry& registry) {
  register_variants<Probabilities>(registry, "cross_entropy");
  register_variants<Gradients>(registry, "cross_entropy_with_gradient");
  add_variant(registry, "cross_entropy_gradient", {.name = "naive", .device = kDevice, .run = run_gradient});
}

}  // namespace treadle::TREADLE_TARGET
