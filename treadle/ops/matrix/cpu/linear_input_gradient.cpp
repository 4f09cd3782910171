/// The cpu variants of linear_input_gradient that go without lists.
#include "treadle/graph/variant.h"
#include "treadle/ops/matrix/linear_input_gradient_call.h"
#include "treadle/ops/matrix/matrix_product.h"

namespace treadle {
namespace {

/// The address of x[n, i].
template <class T>
const T* element(const TensorView& x, int64_t n, int64_t i) {
  return x.as<const T>() + n * x.strides[0] + i * x.strides[1];
}

/// Rows [begin, end) of dx; p.M, p.N and p.K are the batch, in and out.
template <class T>
void multiply_rows(const MatrixProduct& p, const TensorView& x, int64_t begin, int64_t end) {
  using C = HostCompute<T>;
  for (int64_t n = begin; n < end; ++n)
    for (int64_t i = 0; i < p.N; ++i) {
      const T *dy = static_cast<const T*>(p.a) + n * p.a_row,
              *w = static_cast<const T*>(p.b) + i * p.b_column;
      C sum = 0;
      if (C(*element<T>(x, n, i)) != C(0))
        for (int64_t o = 0; o < p.K; ++o) sum += C(dy[o * p.a_column]) * C(w[o * p.b_row]);
      static_cast<T*>(p.c)[n * p.c_row + i * p.c_column] = T(sum);
    }
}

/// Any strides, any dtype.
void run_loop(const Call& call) {
  constexpr double kProduct = 0.2;  // nanoseconds
  const MatrixProduct p = matmul_product(call);
  const Nanoseconds row{kProduct * double(p.N * p.K)};
  with_floating_type(call.output().dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    parallel_for(p.M, row,
                 [&](int64_t begin, int64_t end) { multiply_rows<T>(p, call.input(2), begin, end); });
  });
}

/// Of `count` elements, dx becomes 0 where x is.
template <class T>
void drop_zeros(T* dx, int64_t dx_step, const T* x, int64_t x_step, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    dx[i * dx_step] = HostCompute<T>(x[i * x_step]) == 0 ? T(0) : dx[i * dx_step];
}

template <class T>
void drop_zeros(const TensorView& dx, const TensorView& x) {
  constexpr int64_t kElements = 16'384;  // worth a thread
  for_each_row(make_strided<2>(dx, {&x, 1}), kElements,
               [&](const int64_t(&offsets)[2], const std::array<int64_t, 2>& steps, int64_t count) {
                 T* result = dx.as<T>() + offsets[0];
                 const T* mask = x.as<const T>() + offsets[1];
                 if (steps[0] == 1 && steps[1] == 1)
                   drop_zeros(result, 1, mask, 1, count);  // one vector at a time
                 else
                   drop_zeros(result, steps[0], mask, steps[1], count);
               });
}

/// All products, then the zeros: where x has few of them.
void run_two_steps(const Call& call) {
  run_whole_input_gradient(call, DeviceKind::cpu);
  with_floating_type(call.output().dtype, [&](auto tag) {
    drop_zeros<typename decltype(tag)::type>(call.output(), call.input(2));
  });
}

}  // namespace

namespace ops {

void register_matrix_cpu_linear_input_gradient(Registry& registry) {
  const char* op = "linear_input_gradient";
  add_variant(registry, op, {.name = "loop", .device = DeviceKind::cpu, .run = run_loop});
  add_variant(registry, op,
              {.name = "two_steps", .device = DeviceKind::cpu, .run = run_two_steps, .preference = 10});
}

}  // namespace ops
}  // namespace treadle
