/// The general cpu variant of linear_sgd_update.
#include "treadle/core/parallel_for.h"
#include "treadle/graph/variant.h"
#include "treadle/kernels/optimizer_functions.h"
#include "treadle/ops/matrix/linear_options.h"
#include "treadle/ops/matrix/linear_update_operands.h"

namespace treadle {
namespace {

/// Rows [begin, end) of w and elements of b.
template <class T>
void update_rows(const LinearUpdateOperands& p, const SgdStep<HostCompute<T>>& step, int64_t begin,
                 int64_t end) {
  using C = HostCompute<T>;
  auto update = [&](T& target, auto gradient_of) {
    C parameter = target, gradient = 0;
    for (int64_t n = 0; n < p.N; ++n) gradient += gradient_of(n);
    step(parameter, gradient);
    target = T(parameter);
  };
  auto dy = [&](int64_t n, int64_t o) { return C(p.at<const T>(p.dy, n * p.dy_row + o * p.dy_column)); };
  for (int64_t o = begin; o < end; ++o) {
    for (int64_t i = 0; i < p.in; ++i)
      update(p.at<T>(p.w, o * p.w_row + i * p.w_column),
             [&](int64_t n) { return dy(n, o) * C(p.at<const T>(p.x, n * p.x_row + i * p.x_column)); });
    if (p.b) update(p.at<T>(p.b, o * p.b_step), [&](int64_t n) { return dy(n, o); });
  }
}

/// Any strides, any dtype.
void run_loop(const Call& call) {
  constexpr double kProduct = 0.2;  // nanoseconds
  const LinearUpdateOperands p = linear_update_operands(call);
  const double rate = *p.state, decay = call.options<LinearSgdUpdateOptions>().weight_decay;
  const Nanoseconds row{kProduct * double(p.N * p.in)};
  with_floating_type(call.input(0).dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const SgdStep<HostCompute<T>> step{HostCompute<T>(rate), HostCompute<T>(decay)};
    parallel_for(p.out, row, [&](int64_t begin, int64_t end) { update_rows<T>(p, step, begin, end); });
  });
}

}  // namespace

namespace ops {

void register_matrix_cpu_linear_sgd_update(Registry& registry) {
  add_variant(registry, "linear_sgd_update", {.name = "loop", .device = DeviceKind::cpu, .run = run_loop});
}

}  // namespace ops
}  // namespace treadle
