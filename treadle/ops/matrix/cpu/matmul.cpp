/// The cpu variants of matmul and linear.
#include "treadle/graph/variant.h"
#include "treadle/ops/matrix/cpu/matrix_blocks.h"
#include "treadle/simd/gemm.h"

namespace treadle {
namespace {

/// Element types of the operands and of the sums.
template <class T>
struct Typed {
  const MatrixProduct& p;
  const T* a(int64_t m, int64_t k) const { return static_cast<const T*>(p.a) + m * p.a_row + k * p.a_column; }
  const T* b(int64_t k, int64_t n) const { return static_cast<const T*>(p.b) + k * p.b_row + n * p.b_column; }
  T* c(int64_t m, int64_t n) const { return static_cast<T*>(p.c) + m * p.c_row + n * p.c_column; }
  Accumulate<T> bias(int64_t n) const {
    return p.bias ? Accumulate<T>(static_cast<const T*>(p.bias)[n * p.bias_step]) : 0;
  }
};

constexpr int64_t kStrip = 64;

/// One row of c over a strip of columns: the sums stay in a small array while b is read row by row.
template <class T>
void strip_of_row(const Typed<T>& t, int64_t m, int64_t first, int64_t count) {
  Accumulate<T> sums[kStrip];
  for (int64_t j = 0; j < count; ++j) sums[j] = t.bias(first + j);
  for (int64_t k = 0; k < t.p.K; ++k) {
    const Accumulate<T> a = *t.a(m, k);
    const T* b = t.b(k, first);
    for (int64_t j = 0; j < count; ++j) sums[j] += a * Accumulate<T>(b[j * t.p.b_column]);
  }
  for (int64_t j = 0; j < count; ++j) *t.c(m, first + j) = T(sums[j]);
}

/// Any strides, any dtype.
template <MatrixProduct (*product_of)(const Call&)>
void run_loop(const Call& call) {
  with_floating_type(call.output().dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for_each_block(product_of(call), [](const MatrixProduct& p) {
      for (int64_t n = 0; n < p.N; n += kStrip)
        for (int64_t m = 0; m < p.M; ++m) strip_of_row<T>({p}, m, n, std::min(kStrip, p.N - n));
    });
  });
}

void fill_with_bias(const MatrixProduct& p) {
  const Typed<float> t{p};
  for (int64_t m = 0; m < p.M; ++m)
    for (int64_t n = 0; n < p.N; ++n) *t.c(m, n) = t.bias(n);
}

void gemm_block(const MatrixProduct& p, const BlasLayout& a, const BlasLayout& b, int64_t c_leading) {
  if (p.bias) fill_with_bias(p);
  cpu::gemm(a.transposed, b.transposed, p.M, p.N, p.K, static_cast<const float*>(p.a), a.leading,
            static_cast<const float*>(p.b), b.leading, static_cast<float*>(p.c), c_leading,
            p.bias != nullptr);
}

/// Treadle's own SIMD product, one call for each thread's block.
template <MatrixProduct (*product_of)(const Call&)>
void run_gemm(const Call& call) {
  const MatrixProduct p = product_of(call);
  const BlasLayout a = blas_layout_of_a(p), b = blas_layout_of_b(p), c = blas_layout_of_c(p);
  for_each_block(p, [&](const MatrixProduct& block) { gemm_block(block, a, b, c.leading); });
}

template <MatrixProduct (*product_of)(const Call&)>
bool suits_gemm(const Call& call) {
  return call.output().dtype == DType::f32 && suits_blas(product_of(call));
}

template <MatrixProduct (*product_of)(const Call&)>
void add_variants(Registry& registry, const char* op) {
  add_variant(registry, op, {.name = "loop", .device = DeviceKind::cpu, .run = run_loop<product_of>});
  add_variant(registry, op,
              {.name = "gemm",
               .device = DeviceKind::cpu,
               .run = run_gemm<product_of>,
               .when = suits_gemm<product_of>,
               .preference = 10});
}

}  // namespace

namespace ops {

void register_matrix_cpu_matmul(Registry& registry) {
  add_variants<matmul_product>(registry, "matmul");
  add_variants<linear_product>(registry, "linear");
}

}  // namespace ops
}  // namespace treadle
