// Copies in the background, and what shared memory holds before and behind.
#include "tests/simt/kernels.h"

namespace treadle::TREADLE_TARGET {
namespace {

/// Each thread copies a word of x in each of two groups, and looks into `stage` before a wait, after a wait
/// for the first group, and after a wait for both.
__global__ void copy_in_groups_kernel(const int* x, int* seen) {
  int* stage = dynamic_shared<int>();
  const int t = threadIdx.x, n = blockDim.x;
  stage[t] = stage[n + t] = -5;
  copy_async<4>(&stage[t], &x[t]);
  copy_async_commit();
  copy_async<4>(&stage[n + t], &x[n + t]);
  copy_async_commit();
  int* mine = seen + 6 * t;
  mine[0] = stage[t], mine[1] = stage[n + t];
  copy_async_wait<1>();
  mine[2] = stage[t], mine[3] = stage[n + t];
  copy_async_wait<0>();
  mine[4] = stage[t], mine[5] = stage[n + t];
}

/// The wait is forgotten; the second thread reads when the first has ended.
__global__ void copy_without_wait_kernel(const int* x, int* seen) {
  int* stage = dynamic_shared<int>();
  if (threadIdx.x == 0) {
    *stage = -5;
    copy_async<4>(stage, x);
    seen[0] = *stage;
  } else {
    seen[1] = *stage;
  }
}

__global__ void copy_misaligned_kernel(const float* x, float* y) {
  __shared__ __align__(16) float stage[36];
  copy_async<16>(&stage[threadIdx.x + 1], x);
  copy_async_commit();
  copy_async_wait<0>();
  y[threadIdx.x] = stage[threadIdx.x];
}

__global__ void read_before_writing_kernel(float* seen) {
  seen[threadIdx.x] = dynamic_shared<float>()[threadIdx.x];
  __syncthreads();
  dynamic_shared<float>()[threadIdx.x] = 1.f;
}

__global__ void write_behind_kernel(int n) {
  for (int i = threadIdx.x; i <= n; i += blockDim.x) dynamic_shared<float>()[i] = 0.f;
}

}  // namespace

void copy_in_groups(stream_t stream, const int* x, int* seen) {
  launch<copy_in_groups_kernel>(stream, 1, 32, 64 * sizeof(int), x, seen);
}

void copy_without_wait(stream_t stream, const int* x, int* seen) {
  launch<copy_without_wait_kernel>(stream, 1, 2, sizeof(int), x, seen);
}

void copy_misaligned(stream_t stream, const float* x, float* y) {
  launch<copy_misaligned_kernel>(stream, 1, 32, 0, x, y);
}

void read_before_writing(stream_t stream, float* seen) {
  launch<read_before_writing_kernel>(stream, 1, 32, 32 * sizeof(float), seen);
}

void write_behind(stream_t stream, int n) {
  launch<write_behind_kernel>(stream, 3, 32, n * sizeof(float), n);
}

}  // namespace treadle::TREADLE_TARGET
