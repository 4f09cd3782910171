/// Softmax cross-entropy and its gradient on the cpu device: one pass over the rows.
#include "treadle/core/error.h"
#include "treadle/graph/registry.h"
#include "treadle/ops/loss_options.h"
#include "treadle/ops/softmax_row.h"
#include "treadle/ops/strided_operands.h"

namespace treadle {
namespace {

constexpr int64_t kGrain = 4096;  ///< elements worth a thread: an exponential each

int64_t rows_worth_a_thread(int64_t classes) {
  return std::max<int64_t>(1, kGrain / std::max<int64_t>(1, classes));
}

int64_t label_of(const TensorView& labels, int64_t sample) {
  const int64_t offset = sample * labels.strides[0];
  return labels.dtype == DType::i64 ? labels.as<int64_t>()[offset] : labels.as<int32_t>()[offset];
}

/// Throws ValueError unless the label names a class.
int64_t checked_label(const TensorView& labels, int64_t sample, int64_t classes) {
  const int64_t label = label_of(labels, sample);
  require<ValueError>(label >= 0 && label < classes,
                      "cross_entropy: label {} of sample {} is not one of {} classes", label, sample,
                      classes);
  return label;
}

/// Writes probabilities of one sample and returns its loss.
template <class T, class C>
C run_sample(SoftmaxRow<C>& row, const T* x, int64_t stride, int64_t classes, int64_t label,
             T* probabilities) {
  row.load(x, stride, C(-INFINITY));
  const C largest = row.largest(), of_label = row[label] - largest, sum = row.exponentiate(largest),
          scale = C(1) / sum;
  for (int64_t c = 0; c < classes; ++c) probabilities[c] = T(row[c] * scale);
  return std::log(sum) - of_label;
}

template <class T>
void run_samples(const Call& call, double* losses) {
  using C = HostCompute<T>;
  const TensorView &x = call.input(0), &labels = call.input(1);
  const int64_t samples = x.shape[0], classes = x.shape[1];
  parallel_for(samples, rows_worth_a_thread(classes), [&](int64_t begin, int64_t end) {
    SoftmaxRow<C> row(classes);
    for (int64_t n = begin; n < end; ++n)
      losses[n] = double(run_sample(row, x.as<T>() + n * x.strides[0], x.strides[1], classes,
                                    checked_label(labels, n, classes), call.output(1).as<T>() + n * classes));
  });
}

void run(const Call& call) {
  const int64_t samples = call.input(0).shape[0];
  const auto& options = call.options<LossOptions>();
  double* losses = call.workspace<double>(samples);
  with_floating_type(call.input(0).dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    run_samples<T>(call, losses);
    T* loss = call.output(0).as<T>();
    if (options.keeps_terms()) {
      for (int64_t n = 0; n < samples; ++n) loss[n] = T(losses[n]);
      return;
    }
    double sum = 0;
    for (int64_t n = 0; n < samples; ++n) sum += losses[n];
    *loss = T(sum / options.divisor(samples));
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
  parallel_for(samples, 4 * rows_worth_a_thread(classes), [&](int64_t begin, int64_t end) {
    for (int64_t n = begin; n < end; ++n) {
      const T* p = probabilities.as<T>() + n * probabilities.strides[0];
      T* dx = call.output().as<T>() + n * classes;
      const C factor = C(upstream.as<T>()[n * upstream_stride]) / divisor;
      const int64_t label = checked_label(labels, n, classes);
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

void register_cross_entropy_cpu(Registry& registry) {
  registry.add_variant("cross_entropy", {.name = "rows", .device = DeviceKind::cpu, .run = run});
  registry.add_variant("cross_entropy_gradient",
                       {.name = "rows", .device = DeviceKind::cpu, .run = run_gradient});
}

}  // namespace ops
}  // namespace treadle
