/// The host interface's errors.
#pragma once

#include "treadle/simt/target.h"
#include "treadle/simt/toolkit/api_types.h"

namespace treadle::TREADLE_TARGET {
inline namespace cuda_names {

/// This thread's last error, which is forgotten unless a kernel has failed.
cudaError_t cudaGetLastError();
cudaError_t cudaPeekAtLastError();
const char* cudaGetErrorName(cudaError_t error);
const char* cudaGetErrorString(cudaError_t error);

}  // namespace cuda_names
}  // namespace treadle::TREADLE_TARGET
