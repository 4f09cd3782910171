/// Softmax, log_softmax and their gradients on the cpu device: row by row, in whole vectors.
#include "treadle/graph/variant.h"
#include "treadle/ops/softmax/cpu/softmax_row.h"
#include "treadle/ops/softmax/softmax_options.h"
#include "treadle/ops/softmax/softmax_plan.h"

namespace treadle {
namespace {

constexpr double kElement = 1;  ///< nanoseconds: an exponential

/// Calls run(begin, end) on ranges of rows, spread over threads.
template <int N, class Run>
void for_row_ranges(const SoftmaxPlan<N>& plan, Run run) {
  parallel_for(plan.rows.numel, Nanoseconds{kElement * double(plan.length)}, run);
}

/// x in `row` → y. The row's sum of exponentials is at least 1.
template <bool logarithm, class T, class C>
void write_softmax(SoftmaxRow<C>& row, const T* x, T* y, const SoftmaxPlan<2>& plan) {
  row.load(x, plan.strides[1], C(-INFINITY));
  const C largest = row.largest(), sum = row.exponentiate(largest);
  if constexpr (logarithm) {
    const C log_sum = std::log(sum);
    for (int64_t i = 0; i < plan.length; ++i)
      y[i * plan.strides[0]] = T(C(x[i * plan.strides[1]]) - largest - log_sum);
  } else {
    const C scale = C(1) / sum;
    for (int64_t i = 0; i < plan.length; ++i) y[i * plan.strides[0]] = T(row[i] * scale);
  }
}

template <bool logarithm>
void run(const Call& call) {
  const auto plan = make_softmax_plan<2>(call.output(), call.inputs, call.options<SoftmaxOptions>().axis);
  with_floating_type(call.output().dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* y = call.output().as<T>();
    const T* x = call.input(0).as<T>();
    for_row_ranges(plan, [&](int64_t begin, int64_t end) {
      SoftmaxRow<HostCompute<T>> row(plan.length);
      for (int64_t i = begin; i < end; ++i) {
        int64_t o[2];
        plan.rows.offsets(i, o);
        write_softmax<logarithm>(row, x + o[1], y + o[0], plan);
      }
    });
  });
}

/// y and dy in rows → dx.
template <bool logarithm, class T, class C>
void write_gradient(const SoftmaxRow<C>& y, const SoftmaxRow<C>& dy, T* dx, const SoftmaxPlan<3>& plan) {
  const C sum = logarithm ? dy.sum() : dy.dot(y);
  for (int64_t i = 0; i < plan.length; ++i)
    dx[i * plan.strides[0]] = T(logarithm ? dy[i] - math::exp(y[i]) * sum : y[i] * (dy[i] - sum));
}

template <bool logarithm>
void run_gradient(const Call& call) {
  const auto plan = make_softmax_plan<3>(call.output(), call.inputs, call.options<SoftmaxOptions>().axis);
  with_floating_type(call.output().dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    using C = HostCompute<T>;
    const T *y = call.input(0).as<T>(), *dy = call.input(1).as<T>();
    for_row_ranges(plan, [&](int64_t begin, int64_t end) {
      SoftmaxRow<C> y_row(plan.length), dy_row(plan.length);
      for (int64_t i = begin; i < end; ++i) {
        int64_t o[3];
        plan.rows.offsets(i, o);
        y_row.load(y + o[1], plan.strides[1], C(0));
        dy_row.load(dy + o[2], plan.strides[2], C(0));
        write_gradient<logarithm>(y_row, dy_row, call.output().as<T>() + o[0], plan);
      }
    });
  });
}

}  // namespace

namespace ops {

void register_softmax_cpu_loop(Registry& registry) {
  auto add = [&](const char* op, void (*run)(const Call&)) {
    add_variant(registry, op, {.name = "loop", .device = DeviceKind::cpu, .run = run});
  };
  add("softmax", run<false>);
  add("log_softmax", run<true>);
  add("softmax_gradient", run_gradient<false>);
  add("log_softmax_gradient", run_gradient<true>);
}

}  // namespace ops
}  // namespace treadle
