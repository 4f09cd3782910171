#include "tests/simt/kernels.h"

namespace treadle::TREADLE_TARGET {
namespace {

template <int T>
__global__ void __launch_bounds__(T* T)
    matmul_tiled_kernel(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c,
                        int n) {
  __shared__ float as[T][T], bs[T][T];
  const int row = blockIdx.y * T + threadIdx.y, column = blockIdx.x * T + threadIdx.x;
  float sum = 0.f;
  for (int t = 0; t < n / T; ++t) {
    as[threadIdx.y][threadIdx.x] = a[row * n + t * T + threadIdx.x];
    bs[threadIdx.y][threadIdx.x] = b[(t * T + threadIdx.y) * n + column];
    __syncthreads();
    UNROLL(16)
    for (int k = 0; k < T; ++k) sum += as[threadIdx.y][k] * bs[k][threadIdx.x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}

__global__ void block_sum_static_kernel(const float* x, float* sum, int n) {
  __shared__ float partial[256];
  float mine = 0.f;
  for (int i = threadIdx.x; i < n; i += blockDim.x) mine += x[i];
  partial[threadIdx.x] = mine;
  __syncthreads();
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) *sum = partial[0];
}

template <class T>
__global__ void block_sum_dynamic_kernel(const T* x, T* sum, int n) {
  T* partial = dynamic_shared<T>();
  partial[threadIdx.x] = static_cast<int>(threadIdx.x) < n ? x[threadIdx.x] : T(0);
  __syncthreads();
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) partial[threadIdx.x] = partial[threadIdx.x] + partial[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) *sum = partial[0];
}

__global__ void voting_barriers_kernel(const int* x, int* count, int* all, int* any) {
  const int i = threadIdx.x;
  count[i] = __syncthreads_count(x[i]);
  all[i] = __syncthreads_and(x[i]);
  any[i] = __syncthreads_or(x[i]);
}

/// Threads below `leaving` return before the barrier; the last thread then reads what the others wrote.
__global__ void barrier_after_exit_kernel(int* out, int leaving) {
  __shared__ int slots[256];
  const int i = threadIdx.x;
  if (i < leaving) return;
  slots[i] = i;
  __syncthreads();
  const int next = i + 1 < static_cast<int>(blockDim.x) ? i + 1 : leaving;
  out[i] = slots[next];
}

__global__ void staged_copy_kernel(const float* x, float* y) {
  __shared__ __align__(16) float stage[128];
  copy_async<16>(&stage[threadIdx.x * 4], x + threadIdx.x * 4);
  copy_async_commit();
  copy_async_wait<0>();
  __syncthreads();
  for (int i = threadIdx.x; i < 128; i += blockDim.x) y[i] = stage[127 - i];
}

/// Each thread writes its linear number in the grid at the place its coordinates say.
__global__ void thread_coordinates_kernel(unsigned* seen) {
  const unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  const unsigned thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  const unsigned i = block * (blockDim.x * blockDim.y * blockDim.z) + thread;
  __syncthreads();
  seen[i] += 1;
}

__global__ void repeated_barriers_kernel(int count) {
  for (int i = 0; i < count; ++i) __syncthreads();
}

}  // namespace

void matmul_tiled(stream_t stream, const float* a, const float* b, float* c, int n) {
  launch<matmul_tiled_kernel<16>>(stream, dim3(n / 16, n / 16), dim3(16, 16), 0, a, b, c, n);
}

void block_sum_static(stream_t stream, const float* x, float* sum, int n) {
  launch<block_sum_static_kernel>(stream, 1, 256, 0, x, sum, n);
}

template <class T>
void block_sum_dynamic(stream_t stream, const T* x, T* sum, int n) {
  launch<block_sum_dynamic_kernel<T>>(stream, 1, 64, 64 * sizeof(T), x, sum, n);
}
template void block_sum_dynamic(stream_t, const float*, float*, int);
template void block_sum_dynamic(stream_t, const double*, double*, int);

void voting_barriers(stream_t stream, const int* x, int* count, int* all, int* any, int n) {
  launch<voting_barriers_kernel>(stream, 1, n, 0, x, count, all, any);
}

void barrier_after_exit(stream_t stream, int* out, int threads, int leaving) {
  launch<barrier_after_exit_kernel>(stream, 1, threads, 0, out, leaving);
}

void staged_copy(stream_t stream, const float* x, float* y) {
  launch<staged_copy_kernel>(stream, 1, 32, 0, x, y);
}

void thread_coordinates(stream_t stream, dim3 grid, dim3 block, unsigned* seen) {
  launch<thread_coordinates_kernel>(stream, grid, block, 0, seen);
}

void repeated_barriers(stream_t stream, int threads, int count) {
  launch<repeated_barriers_kernel>(stream, 1, threads, 0, count);
}

}  // namespace treadle::TREADLE_TARGET
