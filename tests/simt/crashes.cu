// Kernels that would end the process, were they ordinary code.
#undef NDEBUG
#include <cassert>
#include <cstdlib>

#include "tests/simt/kernels.h"

namespace treadle::TREADLE_TARGET {
namespace {

constexpr unsigned kCulprit = 37;

__global__ void store_to_null_kernel(int* nowhere) {
  __syncthreads();
  if (threadIdx.x == kCulprit) nowhere[2] = 1;
  __syncthreads();
}

__global__ void divide_by_zero_kernel(int* x, int divisor) {
  if (threadIdx.x == kCulprit) *x = 7 / divisor;
}

__global__ void fail_assertion_kernel(int x) { assert(threadIdx.x != kCulprit || x == 1); }

__device__ int sum_below(volatile int* x, int n) {
  volatile int local[64] = {};
  local[n % 64] = n;
  return n == 0 ? *x : sum_below(local + n % 64, n - 1) + local[n % 64];
}

__global__ void recurse_kernel(int* x, int depth) {
  if (threadIdx.x == kCulprit) *x = sum_below(x, depth);
}

/// Far below its frame's end first.
__global__ void huge_frame_kernel(int* x, int i) {
  volatile int local[100000];
  local[i] = i;
  __syncthreads();
  if (threadIdx.x == 0) *x = local[i];
}

__global__ void use_80_kilobytes_kernel(int* x, int step) {
  int local[20 * 1024];
  for (int i = 0; i < 20 * 1024; ++i) local[i] = i * step;
  __syncthreads();
  int sum = 0;
  for (int i = threadIdx.x; i < 20 * 1024; i += 1024) sum += local[i];
  x[threadIdx.x] = sum;
}

template <auto kernel, class... A>
void launch_either(bool plain, A... arguments) {
  if (plain)
    launch<kernel, independent>(nullptr, 2, 64, 0, arguments...);
  else
    launch<kernel>(nullptr, 2, 64, 0, arguments...);
}

}  // namespace

void store_to_null(stream_t stream) { launch<store_to_null_kernel>(stream, 2, 64, 0, nullptr); }

void divide_by_zero(bool plain) {
  int x = 0;
  launch_either<divide_by_zero_kernel>(plain, &x, 0);
}

void fail_assertion(bool plain) { launch_either<fail_assertion_kernel>(plain, 0); }

int recurse(bool plain, int depth) {
  int x = 0;
  launch_either<recurse_kernel>(plain, &x, depth);
  return x;
}

int use_huge_frame(stream_t stream, int i) {
  int x = 0;
  launch<huge_frame_kernel>(stream, 1, 4, 0, &x, i);
  return x;
}

void use_80_kilobytes(stream_t stream, int* x, int step) {
  launch<use_80_kilobytes_kernel>(stream, 1, 64, 0, x, step);
}

// What nvcc refuses in a kernel; the host compiler does not, and the executor must outlive them.
#ifndef __CUDACC__
namespace {

__global__ void abort_kernel() {
  if (threadIdx.x == kCulprit) abort();
}

void throws() noexcept { throw_device_error("kernel", "an exception that nobody may see"); }

__global__ void terminate_kernel() {
  if (threadIdx.x == kCulprit) throws();
}

__global__ void illegal_instruction_kernel() {
  if (threadIdx.x == kCulprit) __builtin_trap();
}

}  // namespace

void abort_in_kernel(bool plain) { launch_either<abort_kernel>(plain); }
void terminate_in_kernel(bool plain) { launch_either<terminate_kernel>(plain); }
void execute_illegal_instruction(bool plain) { launch_either<illegal_instruction_kernel>(plain); }
#endif

}  // namespace treadle::TREADLE_TARGET
