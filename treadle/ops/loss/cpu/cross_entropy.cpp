/// Softmax cross-entropy and its gradient on the cpu device: row by row, or eight samples side by side.
#include "treadle/graph/variant.h"
#include "treadle/ops/loss/cpu/labels.h"
#include "treadle/ops/loss/loss_options.h"
#include "treadle/ops/softmax/cpu/softmax_row.h"
#include "treadle/ops/strided_operands.h"
#include "treadle/simd/instruction_sets.h"

namespace treadle {
namespace {

/// So many exponentials.
Nanoseconds exponentials(int64_t count) { return {double(count)}; }

/// Output 1 is (probability - share·[c = label])·factor. With share 0 and factor 1 that is the probability
/// itself, bit for bit; with 1 and 1/divisor the gradient, as cross_entropy_gradient computes it.
struct Result {
  double share = 0, divisor = 1;
};

/// One row. Probabilities are rounded to T first, as where they are an output.
template <class T, class C>
void write_row(const SoftmaxRow<C>& row, C scale, C share, C factor, int64_t classes, int64_t label, T* out) {
  for (int64_t c = 0; c < classes; ++c) out[c] = T(C(T(row[c] * scale)) * factor);
  out[label] = T((C(T(row[label] * scale)) - share) * factor);
}

/// Row by row.
template <class T>
void run_rows(const Call& call, const Result& result, double* losses) {
  using C = HostCompute<T>;
  const TensorView &x = call.input(0), &labels = call.input(1);
  const int64_t samples = x.shape[0], classes = x.shape[1];
  const C share = C(result.share), factor = C(1) / C(result.divisor);
  parallel_for(samples, exponentials(classes), [&](int64_t begin, int64_t end) {
    SoftmaxRow<C> row(classes);
    for (int64_t n = begin; n < end; ++n) {
      const int64_t label = checked_label(labels, n, classes, kLabelOutOfRange);
      row.load(x.as<T>() + n * x.strides[0], x.strides[1], C(-INFINITY));
      const C largest = row.largest(), of_label = row[label] - largest, sum = row.exponentiate(largest);
      write_row(row, C(1) / sum, share, factor, classes, label, call.output(1).as<T>() + n * classes);
      losses[n] = double(std::log(sum) - of_label);
    }
  });
}

constexpr int64_t kLanes = 8, kFewClasses = 64;
static_assert(kLanes == SoftmaxRow<float>::kLanes);

/// kLanes samples side by side, since short rows would not fill vectors. Lanes behind `count` repeat lane 0.
template <class T>
struct Block {
  using C = HostCompute<T>;
  int64_t count, classes;
  const T* x;
  T* out;
  C share, factor;  ///< see Result
  int32_t labels[kLanes];
  C values[kFewClasses][kLanes];
  C largest[kLanes], sum[kLanes], of_label[kLanes];

  TREADLE_ALWAYS_INLINE void load(const Strides& strides) {
    int64_t offset[kLanes];
    for (int64_t k = 0; k < kLanes; ++k) offset[k] = k < count ? k * strides[0] : 0;
    for (int64_t c = 0; c < classes; ++c)
      for (int64_t k = 0; k < kLanes; ++k) values[c][k] = C(x[offset[k] + c * strides[1]]);
  }

  TREADLE_ALWAYS_INLINE void subtract_largest() {
    for (int64_t k = 0; k < kLanes; ++k) largest[k] = C(-INFINITY);
    for (int64_t c = 0; c < classes; ++c)
      for (int64_t k = 0; k < kLanes; ++k) largest[k] = values[c][k] > largest[k] ? values[c][k] : largest[k];
    for (int64_t k = 0; k < kLanes; ++k) of_label[k] = values[labels[k]][k] - largest[k];
  }

  /// Values become e^(value - largest), summed in the order of SoftmaxRow for the same bits.
  TREADLE_ALWAYS_INLINE void exponentiate() {
    C partial[kLanes][kLanes] = {};
    for (int64_t c = 0; c < classes; ++c)
      for (int64_t k = 0; k < kLanes; ++k) {
        values[c][k] = math::exp(values[c][k] - largest[k]);
        partial[c % kLanes][k] += values[c][k];
      }
    for (int64_t width = kLanes / 2; width > 0; width /= 2)
      for (int64_t i = 0; i < width; ++i)
        for (int64_t k = 0; k < kLanes; ++k) partial[i][k] += partial[i + width][k];
    for (int64_t k = 0; k < kLanes; ++k) sum[k] = partial[0][k];
  }

  TREADLE_ALWAYS_INLINE void write() {
    C scale[kLanes];
    for (int64_t k = 0; k < kLanes; ++k) scale[k] = C(1) / sum[k];
    for (int64_t c = 0; c < classes; ++c)
      for (int64_t k = 0; k < kLanes; ++k) {
        const C probability = C(T(values[c][k] * scale[k]));
        values[c][k] = (probability - (labels[k] == int32_t(c) ? share : C(0))) * factor;
      }
    for (int64_t k = 0; k < count; ++k)
      for (int64_t c = 0; c < classes; ++c) out[k * classes + c] = T(values[c][k]);
  }

  TREADLE_ALWAYS_INLINE void run(const Strides& strides) {
    load(strides);
    subtract_largest();
    exponentiate();
    write();
  }
};

template <class T>
TREADLE_FLATTEN TREADLE_AVX2 void run_avx2(Block<T>& block, const Strides& strides) {
  block.run(strides);
}

/// Eight samples at a time.
template <class T>
void run_lanes(const Call& call, const Result& result, double* losses) {
  using C = HostCompute<T>;
  const TensorView &x = call.input(0), &labels = call.input(1);
  const int64_t samples = x.shape[0], classes = x.shape[1], blocks = (samples + kLanes - 1) / kLanes;
  parallel_for(blocks, exponentials(classes * kLanes), [&](int64_t begin, int64_t end) {
    Block<T> block;
    block.classes = classes, block.share = C(result.share), block.factor = C(1) / C(result.divisor);
    for (int64_t n = begin * kLanes; n < std::min(end * kLanes, samples); n += kLanes) {
      block.count = std::min(samples - n, kLanes);
      block.x = x.as<T>() + n * x.strides[0], block.out = call.output(1).as<T>() + n * classes;
      for (int64_t k = 0; k < kLanes; ++k)
        block.labels[k] =
            int32_t(checked_label(labels, k < block.count ? n + k : n, classes, kLabelOutOfRange));
      has_avx2() ? run_avx2(block, x.strides) : block.run(x.strides);
      for (int64_t k = 0; k < block.count; ++k)
        losses[n + k] = double(std::log(block.sum[k]) - block.of_label[k]);
    }
  });
}

bool takes_lanes(const Call& call) { return call.input(0).shape[1] <= kFewClasses; }

template <class T>
void write_losses(const Call& call, const double* losses) {
  const int64_t samples = call.input(0).shape[0];
  const auto& options = call.options<LossOptions>();
  T* loss = call.output(0).as<T>();
  if (options.keeps_terms()) {
    for (int64_t n = 0; n < samples; ++n) loss[n] = T(losses[n]);
    return;
  }
  double sum = 0;
  for (int64_t n = 0; n < samples; ++n) sum += losses[n];
  *loss = T(sum / options.divisor(samples));
}

template <bool lanes, bool gradient>
void run(const Call& call) {
  const int64_t samples = call.input(0).shape[0];
  Result result;
  if (gradient) result = {1, call.options<LossOptions>().divisor(samples)};
  double* losses = call.workspace<double>(samples);
  with_floating_type(call.input(0).dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    lanes ? run_lanes<T>(call, result, losses) : run_rows<T>(call, result, losses);
    write_losses<T>(call, losses);
  });
}

template <class T>
void run_gradient_of(const Call& call) {
  using C = HostCompute<T>;
  const TensorView &probabilities = call.input(0), &labels = call.input(1), &upstream = call.input(2);
  const int64_t samples = probabilities.shape[0], classes = probabilities.shape[1],
                stride = probabilities.strides[1];
  const auto& options = call.options<LossOptions>();
  const C divisor = C(options.divisor(samples));
  const int64_t upstream_stride = options.keeps_terms() ? upstream.strides[0] : 0;
  parallel_for(samples, Nanoseconds{0.25 * double(classes)}, [&](int64_t begin, int64_t end) {
    for (int64_t n = begin; n < end; ++n) {
      const T* p = probabilities.as<T>() + n * probabilities.strides[0];
      T* dx = call.output().as<T>() + n * classes;
      const C factor = C(upstream.as<T>()[n * upstream_stride]) / divisor;
      const int64_t label = checked_label(labels, n, classes, kLabelOutOfRange);
      if (stride == 1) {
        for (int64_t c = 0; c < classes; ++c) dx[c] = T(C(p[c]) * factor);
      } else {
        for (int64_t c = 0; c < classes; ++c) dx[c] = T(C(p[c * stride]) * factor);
      }
      dx[label] = T((C(p[label * stride]) - C(1)) * factor);
    }
  });
}

void run_gradient(const Call& call) {
  with_floating_type(call.input(0).dtype,
                     [&](auto tag) { run_gradient_of<typename decltype(tag)::type>(call); });
}

}  // namespace

namespace ops {

void register_loss_cpu_cross_entropy(Registry& registry) {
  auto add = [&](const char* op, void (*rows)(const Call&), void (*lanes)(const Call&)) {
    add_variant(registry, op, {.name = "loop", .device = DeviceKind::cpu, .run = rows});
    add_variant(
        registry, op,
        {.name = "simd", .device = DeviceKind::cpu, .run = lanes, .when = takes_lanes, .preference = 1});
  };
  add("cross_entropy", run<false, false>, run<true, false>);
  add("cross_entropy_with_gradient", run<false, true>, run<true, true>);
  add_variant(registry, "cross_entropy_gradient",
              {.name = "loop", .device = DeviceKind::cpu, .run = run_gradient});
}

}  // namespace ops
}  // namespace treadle
