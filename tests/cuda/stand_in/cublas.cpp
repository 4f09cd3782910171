// cuBLAS for the stand-in: plain loops, and what the library does with memory and streams. As the real one it
// needs a workspace for a product, allocates it by itself where the user has set none, and forgets the user's
// one when the stream is set.
#include <cublas_v2.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "tests/cuda/stand_in/elements.h"
#include "tests/cuda/stand_in/stand_in.h"

struct cublasContext {
  int device = 0;
  cudaStream_t stream = nullptr;
  void* workspace = nullptr;
  size_t workspace_bytes = 0;
};

namespace {

using namespace treadle;
using namespace treadle::stand_in;

constexpr size_t kWorkspaceNeeded = 1 << 20;

Element element_of(cudaDataType_t type) {
  return type == CUDA_R_64F    ? Element::f64
         : type == CUDA_R_16F  ? Element::f16
         : type == CUDA_R_16BF ? Element::bf16
                               : Element::f32;
}

struct Operand {
  const void* memory;
  Element type;
  bool transposed;
  int64_t leading, step;
  /// Row i, column j of entry n, column-major.
  double at(int64_t n, int64_t i, int64_t j) const {
    return load(memory, type, n * step + (transposed ? j + i * leading : i + j * leading));
  }
  size_t bytes(int64_t rows, int64_t columns, int64_t count) const {
    const int64_t high = transposed ? rows : columns, low = transposed ? columns : rows;
    return size_t((count - 1) * std::max<int64_t>(step, 0) + (high - 1) * leading + low) * bytes_of(type);
  }
};

/// Each term rounded as the library's accumulators do: in f32, or f64 for doubles.
double dot(const Operand& a, const Operand& b, int64_t n, int64_t i, int64_t j, int64_t K) {
  if (a.type == Element::f64) {
    double sum = 0;
    for (int64_t k = 0; k < K; ++k) sum += a.at(n, i, k) * b.at(n, k, j);
    return sum;
  }
  float sum = 0;
  for (int64_t k = 0; k < K; ++k) sum = std::fma(float(a.at(n, i, k)), float(b.at(n, k, j)), sum);
  return sum;
}

double factor(const void* value, cublasComputeType_t compute) {
  return compute == CUBLAS_COMPUTE_64F ? *static_cast<const double*>(value)
                                       : *static_cast<const float*>(value);
}

/// The user's workspace, or one that the library allocates; false where it may not.
bool find_workspace(cublasHandle_t handle) {
  if (handle->workspace_bytes >= kWorkspaceNeeded) return true;
  if (cudaMalloc(&handle->workspace, kWorkspaceNeeded) != cudaSuccess) return false;
  handle->workspace_bytes = kWorkspaceNeeded;
  return true;
}

}  // namespace

extern "C" {

TREADLE_STAND_IN cublasStatus_t cublasCreate_v2(cublasHandle_t* handle) {
  void* own = nullptr;
  if (cudaMalloc(&own, 4096) != cudaSuccess) return CUBLAS_STATUS_ALLOC_FAILED;
  *handle = new cublasContext;
  cudaGetDevice(&(*handle)->device);
  return CUBLAS_STATUS_SUCCESS;
}

TREADLE_STAND_IN cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream) {
  if (device_of(stream) != handle->device) return CUBLAS_STATUS_INVALID_VALUE;
  handle->stream = stream;
  handle->workspace = nullptr;
  handle->workspace_bytes = 0;
  return CUBLAS_STATUS_SUCCESS;
}

TREADLE_STAND_IN cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t handle, void* workspace, size_t bytes) {
  if (!is_device_memory(handle->stream, workspace, bytes)) return CUBLAS_STATUS_INVALID_VALUE;
  handle->workspace = workspace;
  handle->workspace_bytes = bytes;
  return CUBLAS_STATUS_SUCCESS;
}

TREADLE_STAND_IN cublasStatus_t cublasSetMathMode(cublasHandle_t, cublasMath_t) {
  return CUBLAS_STATUS_SUCCESS;
}

TREADLE_STAND_IN const char* cublasGetStatusString(cublasStatus_t status) {
  return status == CUBLAS_STATUS_ALLOC_FAILED    ? "the resource allocation failed"
         : status == CUBLAS_STATUS_INVALID_VALUE ? "an unsupported value or parameter was passed"
                                                 : "another status";
}

TREADLE_STAND_IN cublasStatus_t cublasGemmStridedBatchedEx(
    cublasHandle_t handle, cublasOperation_t of_a, cublasOperation_t of_b, int m, int n, int k,
    const void* alpha, const void* a, cudaDataType a_type, int lda, long long a_step, const void* b,
    cudaDataType b_type, int ldb, long long b_step, const void* beta, void* c, cudaDataType c_type, int ldc,
    long long c_step, int count, cublasComputeType_t compute, cublasGemmAlgo_t) {
  const Operand left{a, element_of(a_type), of_a != CUBLAS_OP_N, lda, a_step};
  const Operand right{b, element_of(b_type), of_b != CUBLAS_OP_N, ldb, b_step};
  const Operand result{c, element_of(c_type), false, ldc, c_step};
  if (lda < (left.transposed ? k : m) || ldb < (right.transposed ? n : k) || ldc < m)
    return CUBLAS_STATUS_INVALID_VALUE;
  if (!is_device_memory(handle->stream, a, left.bytes(m, k, count)) ||
      !is_device_memory(handle->stream, b, right.bytes(k, n, count)) ||
      !is_device_memory(handle->stream, c, result.bytes(m, n, count)))
    return CUBLAS_STATUS_INVALID_VALUE;
  if (!find_workspace(handle)) return CUBLAS_STATUS_ALLOC_FAILED;
  const double scale = factor(alpha, compute), kept = factor(beta, compute);
  void* workspace = handle->workspace;
  const cudaError_t status = enqueue(handle->stream, [=] {
    std::memset(workspace, 0x7F, kWorkspaceNeeded);
    for (int64_t entry = 0; entry < count; ++entry)
      for (int64_t j = 0; j < n; ++j)
        for (int64_t i = 0; i < m; ++i) {
          const double before = kept == 0 ? 0 : kept * result.at(entry, i, j);
          store(c, result.type, entry * c_step + i + j * ldc,
                scale * dot(left, right, entry, i, j, k) + before);
        }
  });
  return status == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}

}  // extern "C"
