#include "tests/simt/kernels.h"
#include "treadle/simt/wmma.h"

namespace treadle::TREADLE_TARGET {
namespace {

/// One warp per 16x16 tile of c = a·b; a is row-major, b column-major.
template <class T>
__global__ void wmma_product_kernel(const T* a, const T* b, float* c, int n) {
#if TREADLE_ARCH_AT_LEAST(800)  // bfloat16
  wmma::fragment<wmma::matrix_a, 16, 16, 16, T, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, T, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::fill_fragment(sum, 0.f);
  const int row = blockIdx.y * 16, column = blockIdx.x * 16;
  for (int k = 0; k < n; k += 16) {
    wmma::load_matrix_sync(fa, a + row * n + k, n);
    wmma::load_matrix_sync(fb, b + column * n + k, n);
    wmma::mma_sync(sum, fa, fb, sum);
  }
  wmma::store_matrix_sync(c + row * n + column, sum, n, wmma::mem_row_major);
#endif
}

__global__ void half_operations_kernel(const __half* x, __half* y) {
  y[0] = __hfma(x[0], x[1], x[2]);
  y[1] = __hadd(x[0], x[1]);
  y[2] = __hmul(x[0], x[1]);
  y[3] = x[0] / x[1] - x[2];
  y[4] = __hmax(x[0], x[1]);
  y[5] = __float2half(__half2float(x[0]) * 2.f);
  const __half2 pair = __hmul2(__halves2half2(x[0], x[1]), __half2half2(x[2]));
  y[6] = __low2half(pair);
  y[7] = __high2half(pair);
  __half sum = x[0];
  sum += x[1];
  y[8] = x[0] > x[1] ? sum : -sum;
}

__constant__ float stencil_taps[3];

__global__ void stencil_kernel(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= 1 && i < n - 1)
    y[i] = stencil_taps[0] * x[i - 1] + stencil_taps[1] * x[i] + stencil_taps[2] * x[i + 1];
}

__global__ void intrinsics_kernel(const unsigned* x, unsigned* y) {
  y[0] = __popc(x[0]);
  y[1] = __clz(static_cast<int>(x[0]));
  y[2] = __ffs(static_cast<int>(x[0]));
  y[3] = __brev(x[0]);
  y[4] = __umulhi(x[0], x[1]);
  y[5] = static_cast<unsigned>(__mul24(static_cast<int>(x[0]), static_cast<int>(x[1])));
  y[6] = __float_as_uint(__uint_as_float(x[0]));
  y[7] = __byte_perm(x[0], x[1], 0x5410u);
  y[8] = __funnelshift_l(x[0], x[1], 8);
  y[9] = min(x[0], x[1]);
  y[10] = static_cast<unsigned>(max(-3, 4));
  y[11] = __float2int_rn(2.5f);
  y[12] = __float_as_uint(__fmaf_rn(2.f, 3.f, 4.f));
  y[13] = __float_as_uint(max(1.f, 2.f));
  const float4 v = make_float4(1.f, 2.f, 3.f, 4.f);
  y[14] = static_cast<unsigned>(v.x + v.y + v.z + v.w);
  y[15] = __ldg(x);
}

}  // namespace

void wmma_product(stream_t stream, const __half* a, const __half* b, float* c, int n) {
  launch<wmma_product_kernel<__half>>(stream, dim3(n / 16, n / 16), 32, 0, a, b, c, n);
}

void wmma_product(stream_t stream, const __nv_bfloat16* a, const __nv_bfloat16* b, float* c, int n) {
  launch<wmma_product_kernel<__nv_bfloat16>>(stream, dim3(n / 16, n / 16), 32, 0, a, b, c, n);
}

void half_operations(stream_t stream, const __half* x, __half* y) {
  launch<half_operations_kernel, independent>(stream, 1, 1, 0, x, y);
}

void stencil(stream_t stream, const float* taps, const float* x, float* y, int n) {
  copy_to_constant(stencil_taps, taps, 3 * sizeof(float), stream);
  launch<stencil_kernel, independent>(stream, (n + 63) / 64, 64, 0, x, y, n);
}

void intrinsics(stream_t stream, const unsigned* x, unsigned* y) {
  launch<intrinsics_kernel, independent>(stream, 1, 1, 0, x, y);
}

}  // namespace treadle::TREADLE_TARGET
