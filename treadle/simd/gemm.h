/// Single-threaded float matrix product for host code, built on SIMD instructions chosen at run time (AVX2,
/// AVX-512, …).
#pragma once

#include <cstdint>

namespace treadle::cpu {

/// c = op(a) · op(b), or c += op(a) · op(b) when `accumulate` is set; op(a) is [m, k], op(b) is [k, n], c is
/// [m, n]. Matrices are row-major with leading dimensions lda, ldb, ldc in elements; with `transpose_a`, a is
/// stored [k, m], with `transpose_b`, b is stored [n, k]. c must not overlap a or b. An empty sum (k == 0)
/// writes zeros, or leaves c as it is when accumulating. Callers parallelise: one call runs on the calling
/// thread alone, and calls on different threads do not disturb each other. The result depends on the shapes
/// and the CPU, never on timing.
void gemm(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k, const float* a, int64_t lda,
          const float* b, int64_t ldb, float* c, int64_t ldc, bool accumulate);

}  // namespace treadle::cpu
