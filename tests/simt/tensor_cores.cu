/// What PTX's tensor-core instructions make of a warp's fragments.
#include "tests/simt/kernels.h"
#include "treadle/simt/mma.h"

namespace treadle::TREADLE_TARGET {
namespace {

/// One warp loads four matrices of 8×8, which follow one another in `matrices`, as they are and transposed.
__global__ void load_matrices_kernel(const __half* matrices, uint32_t* rows, uint32_t* columns) {
  __shared__ __align__(16) __half staged[4 * 64];
  const int lane = int(threadIdx.x);
  for (int i = lane; i < 4 * 64; i += 32) staged[i] = matrices[i];
  __syncthreads();
  uint32_t parts[4];
  ldmatrix_x4(parts, staged + lane * 8);
  for (int i = 0; i < 4; ++i) rows[lane * 4 + i] = parts[i];
  ldmatrix_x4_trans(parts, staged + lane * 8);
  for (int i = 0; i < 4; ++i) columns[lane * 4 + i] = parts[i];
}

template <class T>
__device__ uint32_t pair_of(T first, T second) {
  const T pair[2] = {first, second};
  uint32_t bits;
  memcpy(&bits, pair, sizeof bits);
  return bits;
}

/// One warp: c = c + a·b, a [16,16], b [16,8], c [16,8], each row-major. Fragments are filled as the PTX ISA
/// has it.
template <class T>
__global__ void mma_kernel(const T* a, const T* b, float* c) {
  const int group = int(threadIdx.x) / 4, pair = int(threadIdx.x) % 4 * 2;
  uint32_t a_parts[4], b_parts[2];
  for (int i = 0; i < 4; ++i) {
    const T* at = a + (group + i % 2 * 8) * 16 + pair + i / 2 * 8;
    a_parts[i] = pair_of(at[0], at[1]);
  }
  for (int i = 0; i < 2; ++i) {
    const T* at = b + (pair + i * 8) * 8 + group;
    b_parts[i] = pair_of(at[0], at[8]);
  }
  float sums[4];
  for (int i = 0; i < 4; ++i) sums[i] = c[(group + i / 2 * 8) * 8 + pair + i % 2];
  mma_m16n8k16<T>(sums, a_parts, b_parts);
  for (int i = 0; i < 4; ++i) c[(group + i / 2 * 8) * 8 + pair + i % 2] = sums[i];
}

__global__ void unaligned_rows_kernel(uint32_t* rows) {
  __shared__ __align__(16) __half staged[32 * 8 + 8];
  uint32_t parts[4];
  ldmatrix_x4(parts, staged + threadIdx.x * 8 + 1);
  rows[threadIdx.x] = parts[0];
}

}  // namespace

void load_matrices(stream_t stream, const __half* matrices, uint32_t* rows, uint32_t* columns) {
  launch<load_matrices_kernel>(stream, 1, 32, 0, matrices, rows, columns);
}

template <class T>
void mma_product(stream_t stream, const T* a, const T* b, float* c, int lanes) {
  launch<mma_kernel<T>>(stream, 1, lanes, 0, a, b, c);
}
template void mma_product(stream_t, const __half*, const __half*, float*, int);
template void mma_product(stream_t, const __nv_bfloat16*, const __nv_bfloat16*, float*, int);

void load_unaligned_rows(stream_t stream, uint32_t* rows) {
  launch<unaligned_rows_kernel>(stream, 1, 32, 0, rows);
}

}  // namespace treadle::TREADLE_TARGET
