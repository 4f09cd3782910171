/// The functions of cuBLAS that are used, and a handle for each device.
#pragma once

#include <cublas_v2.h>

namespace treadle::cublas {

/// Spelled out, because the header overloads the name.
using GemmStridedBatched = cublasStatus_t(cublasHandle_t, cublasOperation_t, cublasOperation_t, int m, int n,
                                          int k, const void* alpha, const void* a, cudaDataType_t, int lda,
                                          long long a_step, const void* b, cudaDataType_t, int ldb,
                                          long long b_step, const void* beta, void* c, cudaDataType_t,
                                          int ldc, long long c_step, int count, cublasComputeType_t,
                                          cublasGemmAlgo_t);

struct Functions {
  decltype(&::cublasCreate_v2) create;
  decltype(&::cublasSetStream_v2) set_stream;
  decltype(&::cublasSetWorkspace_v2) set_workspace;
  decltype(&::cublasSetMathMode) set_math_mode;
  decltype(&::cublasGetStatusString) status_string;
  GemmStridedBatched* gemm_strided_batched;
};

/// Null when cuBLAS is absent. The library is opened at the first call.
const Functions* functions();

/// The current device's handle, set to one of its streams: TF32 off, sums of half types in f32. The caller
/// sees to it that no two threads are between this and their call. The first call on a device allocates, so
/// it must not come while a graph is captured. Throws DeviceError.
cublasHandle_t handle_on(cudaStream_t stream);

/// Throws DeviceError naming `what` unless `status` is success.
void check(cublasStatus_t status, const char* what);

}  // namespace treadle::cublas
