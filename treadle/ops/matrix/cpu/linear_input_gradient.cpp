/// linear_input_gradient element by element.
#include "treadle/graph/variant.h"
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
      if (!(C(*element<T>(x, n, i)) <= C(0)))
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

}  // namespace

namespace ops {

void register_matrix_cpu_linear_input_gradient(Registry& registry) {
  add_variant(registry, "linear_input_gradient",
              {.name = "loop", .device = DeviceKind::cpu, .run = run_loop});
}

}  // namespace ops
}  // namespace treadle
