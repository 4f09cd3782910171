// matmul and linear by cuBLAS. A row-major product is the column-major one of the transposes: cᵀ = bᵀ·aᵀ.
#include <limits>
#include <mutex>

#include "treadle/cuda/cublas/functions.h"
#include "treadle/ops/matrix/cuda/linear_bias.h"
#include "treadle/ops/matrix/matrix_product.h"

namespace treadle::cublas {
namespace {

struct Types {
  cudaDataType_t data;
  cublasComputeType_t compute;
};

Types types_of(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return {CUDA_R_64F, CUBLAS_COMPUTE_64F};
    case DType::f16:
      return {CUDA_R_16F, CUBLAS_COMPUTE_32F};
    case DType::bf16:
      return {CUDA_R_16BF, CUBLAS_COMPUTE_32F};
    default:
      return {CUDA_R_32F, CUBLAS_COMPUTE_32F};
  }
}

/// A factor in the type that the product is computed in.
struct Factor {
  float single;
  double exact;
  explicit Factor(double value) : single(float(value)), exact(value) {}
  const void* as(cublasComputeType_t compute) const {
    return compute == CUBLAS_COMPUTE_64F ? static_cast<const void*>(&exact) : &single;
  }
};

/// The innermost axis of the batch goes to cuBLAS, the others are walked here.
int64_t entries_per_call(const MatrixProduct& p) { return p.batch.shape[p.batch.rank - 1]; }

void multiply(const MatrixProduct& p, int64_t first, double beta, cublasHandle_t handle) {
  const auto [data, compute] = types_of(p.dtype);
  const BlasLayout a = blas_layout_of_a(p), b = blas_layout_of_b(p), c = blas_layout_of_c(p);
  const auto operation = [](const BlasLayout& layout) {
    return layout.transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
  };
  const int inner = p.batch.rank - 1;
  const Factor one(1), scale(beta);
  int64_t offsets[3];
  p.batch.offsets(first, offsets);
  const int64_t element = int64_t(size_of(p.dtype));
  check(functions()->gemm_strided_batched(
            handle, operation(b), operation(a), int(p.N), int(p.M), int(p.K), one.as(compute),
            static_cast<const char*>(p.b) + offsets[2] * element, data, int(b.leading),
            p.batch.strides[2][inner], static_cast<const char*>(p.a) + offsets[1] * element, data,
            int(a.leading), p.batch.strides[1][inner], scale.as(compute),
            static_cast<char*>(p.c) + offsets[0] * element, data, int(c.leading), p.batch.strides[0][inner],
            int(entries_per_call(p)), compute, CUBLAS_GEMM_DEFAULT),
        "cublasGemmStridedBatchedEx");
}

void multiply_batch(const MatrixProduct& p, double beta, void* stream) {
  static std::mutex mutex;
  std::lock_guard lock(mutex);
  cublasHandle_t handle = handle_on(static_cast<cudaStream_t>(stream));
  for (int64_t first = 0; first < p.batch.numel; first += entries_per_call(p))
    multiply(p, first, beta, handle);
}

void run_matmul(const Call& call) { multiply_batch(matmul_product(call), 0, call.stream); }

void run_linear(const Call& call) {
  const bool biased = call.has_input(2);
  if (biased) cuda::start_with_bias(call);
  multiply_batch(linear_product(call), biased ? 1 : 0, call.stream);
}

bool fits_int(std::initializer_list<int64_t> values) {
  return std::max(values) <= std::numeric_limits<int>::max();
}

template <MatrixProduct (*product_of)(const Call&)>
bool suits(const Call& call) {
  if (!functions()) return false;
  const MatrixProduct p = product_of(call);
  return p.K > 0 && suits_blas(p) &&
         fits_int({p.M, p.N, p.K, entries_per_call(p), blas_layout_of_a(p).leading,
                   blas_layout_of_b(p).leading, blas_layout_of_c(p).leading});
}

Variant variant(void (*run)(const Call&), bool (*when)(const Call&)) {
  return {.name = "cublas",
          .device = DeviceKind::cuda,
          .run = run,
          .when = when,
          .preference = 100,
          .engine = Engine::cublas};
}

}  // namespace

void register_matmul(Registry& registry) {
  add_variant(registry, "matmul", variant(run_matmul, suits<matmul_product>));
  add_variant(registry, "linear", variant(run_linear, suits<linear_product>));
}

}  // namespace treadle::cublas
