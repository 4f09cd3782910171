/// What products of half types on tensor cores share: which calls they take, and pieces of 16 bytes.
#pragma once

#include "treadle/ops/matrix/cuda/matrices.cuh"
#include "treadle/simt/mma.h"
#include "treadle/simt/wmma.h"

namespace treadle::TREADLE_TARGET {

inline constexpr int kPiece = 8;  ///< elements in 16 bytes

/// Whether every GPU of this machine multiplies f16 and bf16 by tensor cores as the kernels ask for it: from
/// compute capability 8.0.
inline bool has_tensor_cores() {
#if defined(TREADLE_CUDA)
  static const bool all_have = [] {
    int devices = 0;
    check(cudaGetDeviceCount(&devices), "cudaGetDeviceCount");
    for (int device = 0; device < devices; ++device) {
      int major = 0;
      check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device),
            "cudaDeviceGetAttribute");
      if (major < 8) return false;
    }
    return true;
  }();
  return all_have;
#else
  return true;
#endif
}

inline bool is_of_halves(const MatrixProduct& p) {
  return (p.dtype == DType::f16 || p.dtype == DType::bf16) && has_wide_rows(p) && has_tensor_cores();
}

/// Calls f with a TypeTag of the device's half type.
template <class F>
void with_half_type(DType dtype, F&& f) {
  if (dtype == DType::f16)
    f(TypeTag<__half>{});
  else
    f(TypeTag<__nv_bfloat16>{});
}

/// Copies a piece in the background, or puts zeros in its place.
template <class T>
__device__ void copy_piece(T* target, const T* source, bool inside) {
  if (inside)
    copy_async<16>(target, source);
  else
    *reinterpret_cast<uint4*>(target) = make_uint4(0, 0, 0, 0);
}

}  // namespace treadle::TREADLE_TARGET
