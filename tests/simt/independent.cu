#include "tests/simt/kernels.h"

namespace treadle::TREADLE_TARGET {
namespace {

template <class T>
__global__ void scale_and_add_kernel(T a, const T* x, T* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}

__global__ void add_rows_kernel(const float* __restrict__ x, const float* __restrict__ bias,
                                float* __restrict__ y, int rows, int columns) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= rows || column >= columns) return;
  y[row * columns + column] = x[row * columns + column] + bias[column];
}

__global__ void barrier_kernel() { __syncthreads(); }

__global__ void shuffle_kernel() { __syncwarp(); }

}  // namespace

template <class T>
void scale_and_add(stream_t stream, T a, const T* x, T* y, int n) {
  launch<scale_and_add_kernel<T>, independent>(stream, (n + 255) / 256, 256, 0, a, x, y, n);
}
template void scale_and_add(stream_t, float, const float*, float*, int);
template void scale_and_add(stream_t, double, const double*, double*, int);
template void scale_and_add(stream_t, int, const int*, int*, int);
template void scale_and_add(stream_t, short, const short*, short*, int);
template void scale_and_add(stream_t, unsigned char, const unsigned char*, unsigned char*, int);
template void scale_and_add(stream_t, __half, const __half*, __half*, int);

void add_rows(stream_t stream, const float* x, const float* bias, float* y, int rows, int columns) {
  launch<add_rows_kernel, independent>(stream, dim3((columns + 31) / 32, (rows + 7) / 8), dim3(32, 8), 0, x,
                                       bias, y, rows, columns);
}

void barrier_in_independent(stream_t stream) { launch<barrier_kernel, independent>(stream, 1, 32, 0); }

void shuffle_in_independent(stream_t stream) { launch<shuffle_kernel, independent>(stream, 1, 32, 0); }

}  // namespace treadle::TREADLE_TARGET
