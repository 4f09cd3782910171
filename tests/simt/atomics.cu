#include "tests/simt/kernels.h"

namespace treadle::TREADLE_TARGET {
namespace {

__global__ void histogram_kernel(const unsigned char* x, unsigned* bins, int n) {
  __shared__ unsigned local[256];
  for (int i = threadIdx.x; i < 256; i += blockDim.x) local[i] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&local[x[i]], 1u);
  __syncthreads();
  for (int i = threadIdx.x; i < 256; i += blockDim.x) atomicAdd(&bins[i], local[i]);
}

template <class T>
__global__ void add_ones_kernel(T* sum) {
  atomicAdd(sum, T(1));
}

/// words[0…7] start at 100, signed_words[0…2] at -5; every one of 64 threads does every operation once.
__global__ void atomic_operations_kernel(unsigned* words, int* signed_words) {
  const unsigned i = threadIdx.x;
  atomicSub(&words[0], 1u);
  atomicMin(&words[1], 90u + i);
  atomicMax(&words[2], 90u + i);
  atomicAnd(&words[3], ~(1u << (i % 32)));
  atomicOr(&words[4], 1u << (i % 32));
  atomicXor(&words[5], i);
  atomicInc(&words[6], 110u);
  atomicDec(&words[7], 110u);
  atomicAdd(&signed_words[0], -1);
  atomicMin(&signed_words[1], -static_cast<int>(i));
  atomicMax(&signed_words[2], static_cast<int>(i) - 60);
  if (i == 0) {
    words[8] = atomicExch(&words[9], 7u);
    words[10] = atomicCAS(&words[11], 100u, 8u);
    words[12] = atomicCAS(&words[13], 99u, 8u);
  }
}

/// The block that finishes last adds up what all blocks have written.
__global__ void last_block_sum_kernel(const float* x, float* partial, unsigned* finished, float* sum) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    float mine = 0.f;
    for (unsigned i = 0; i < blockDim.x; ++i) mine += x[blockIdx.x * blockDim.x + i];
    partial[blockIdx.x] = mine;
    __threadfence();
    last = atomicInc(finished, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last || threadIdx.x != 0) return;
  __threadfence();
  float total = 0.f;
  for (unsigned i = 0; i < gridDim.x; ++i) total += partial[i];
  *sum = total;
}

/// One thread per block takes a spin lock.
__global__ void locked_increments_kernel(int* lock, int* counter) {
  if (threadIdx.x != 0) return;
  while (atomicCAS(lock, 0, 1) != 0) {
  }
  __threadfence();
  *const_cast<volatile int*>(counter) = *const_cast<volatile int*>(counter) + 1;
  __threadfence();
  atomicExch(lock, 0);
}

}  // namespace

void histogram(stream_t stream, const unsigned char* x, unsigned* bins, int n, int blocks) {
  launch<histogram_kernel>(stream, blocks, 128, 0, x, bins, n);
}

template <class T>
void add_ones(stream_t stream, T* sum, int blocks, int threads) {
  launch<add_ones_kernel<T>>(stream, blocks, threads, 0, sum);
}
template void add_ones(stream_t, int*, int, int);
template void add_ones(stream_t, unsigned*, int, int);
template void add_ones(stream_t, unsigned long long*, int, int);
template void add_ones(stream_t, float*, int, int);
template void add_ones(stream_t, double*, int, int);
template void add_ones(stream_t, __half*, int, int);
template void add_ones(stream_t, __nv_bfloat16*, int, int);

void atomic_operations(stream_t stream, unsigned* words, int* signed_words) {
  launch<atomic_operations_kernel>(stream, 1, 64, 0, words, signed_words);
}

void last_block_sum(stream_t stream, const float* x, float* partial, unsigned* finished, float* sum,
                    int blocks) {
  launch<last_block_sum_kernel>(stream, blocks, 64, 0, x, partial, finished, sum);
}

void locked_increments(stream_t stream, int* lock, int* counter, int blocks) {
  launch<locked_increments_kernel>(stream, blocks, 32, 0, lock, counter);
}

}  // namespace treadle::TREADLE_TARGET
